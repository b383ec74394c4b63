from collections import Counter

from tests.kube_scheduler.features import FEATURES, features
from tests.kube_scheduler.generated import MOST_PODS, generate

SEEDS = range(20)


def test_twenty_clusters_hold_every_hard_constraint_several_times() -> None:
    clusters = Counter(feature for seed in SEEDS for feature in features(generate(seed)))
    rare = {feature: clusters[feature] for feature in FEATURES if clusters[feature] < 3}
    assert rare == {}


def test_a_seed_gives_the_same_cluster_each_time() -> None:
    assert generate(7) == generate(7)
    assert generate(7).pending != generate(8).pending


def test_clusters_are_small_enough_to_be_played_in_seconds() -> None:
    clusters = [generate(seed) for seed in SEEDS]
    assert all(5 <= len(cluster.pending) <= MOST_PODS for cluster in clusters)
    assert sum(len(cluster.pending) for cluster in clusters) > 400
