from nodewright.domain.images.custom import CUSTOM
from tests.domain.images.bootstraps import ALL_SETTINGS, TAINTS, bootstrap


def test_user_data_is_its_author_s_to_the_byte() -> None:
    theirs = "#!/bin/bash\n/etc/eks/bootstrap.sh theirs  \n\n"
    assert CUSTOM.user_data(bootstrap(user_data=theirs, taints=TAINTS, kubelet=ALL_SETTINGS, raid0=True)) == theirs
    assert CUSTOM.user_data(bootstrap()) == ""


def test_neither_disks_nor_images_are_ours_to_say() -> None:
    assert CUSTOM.block_devices == ()
    assert CUSTOM.queries("1.37", "latest") == ()
