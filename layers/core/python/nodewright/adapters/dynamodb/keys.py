"""Keys of the table, exactly as architecture §4 lists them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

Key = dict[str, "AttributeValueTypeDef"]

CLUSTERS = "CLUSTERS"
CLAIM = "CLAIM#"
LAUNCH = "LAUNCH#"
POOL = "POOL#"
DECISION = "DECISION#"
OFFERING = "OFFERING#"
ASIDE = "ASIDE#"


def key(partition: str, sort: str) -> Key:
    """A primary key."""
    return {"pk": {"S": partition}, "sk": {"S": sort}}


def of_cluster(cluster: str) -> str:
    """Partition of all that belongs to one cluster."""
    return f"CLUSTER#{cluster}"


def of_region(region: str) -> str:
    """Partition of what all clusters of a region share."""
    return f"REGION#{region}"


def cluster(name: str) -> Key:
    """A connected cluster."""
    return key(CLUSTERS, name)


def plan(cluster: str) -> Key:
    """The plan epoch, and how many launches there were this hour."""
    return key(of_cluster(cluster), "PLAN")


def run(cluster: str, duty: str) -> Key:
    """When a duty last took its snapshot."""
    return key(of_cluster(cluster), f"RUN#{duty}")


def launch(cluster: str, launch_id: str) -> Key:
    """A launch that isn't settled."""
    return key(of_cluster(cluster), LAUNCH + launch_id)


def claim(cluster: str, claim_id: str) -> Key:
    """A node claim."""
    return key(of_cluster(cluster), CLAIM + claim_id)


def pool(cluster: str, name: str) -> Key:
    """What is in use or reserved of a pool; `*`: of the whole cluster."""
    return key(of_cluster(cluster), POOL + name)


def owner(instance_id: str) -> Key:
    """Whose an instance is."""
    return key(f"INSTANCE#{instance_id}", "OWNER")


def decision(cluster: str, time: str, decision_id: str) -> Key:
    """A decision; `time` sorts as text."""
    return key(of_cluster(cluster), f"{DECISION}{time}#{decision_id}")


def aside(cluster: str, shape: str) -> Key:
    """A shape nodes were bought for in vain."""
    return key(of_cluster(cluster), ASIDE + shape)


def offering(region: str, instance_type: str, zone: str, capacity_type: str) -> Key:
    """An offering that cools down."""
    return key(of_region(region), f"{OFFERING}{instance_type}#{zone}#{capacity_type}")


def catalogue(region: str, part: str) -> Key:
    """Head of a part of the catalogue: which generation is the current one."""
    return key(of_region(region), f"CATALOGUE#{part}")


def catalogue_chunks(part: str) -> str:
    """What the sort keys of a part's chunks, of all generations, begin with."""
    return f"CATALOGUE#{part}#"


def catalogue_chunk(region: str, part: str, generation: str, index: int) -> Key:
    """One chunk of one generation of a part."""
    return key(of_region(region), f"{catalogue_chunks(part)}{generation}#{index:04d}")
