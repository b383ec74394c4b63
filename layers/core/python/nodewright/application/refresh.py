"""Keeps the region's catalogue and the clusters' facts fresh, so that no plan waits for a slow API."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from nodewright.application.errors import NotFoundError, OutsideError, UnavailableError
from nodewright.application.ports import ClusterDirectory, Ec2Catalogue, Images, Ledger, Observer
from nodewright.domain.images import FAMILIES

PARTS = ("types", "offerings", "prices", "spot", "clusters", "images")


@dataclass(frozen=True, slots=True)
class Refresh:
    """The use case. One part that fails doesn't keep the others from being refreshed."""

    ledger: Ledger
    ec2: Ec2Catalogue
    images: Images
    directory: ClusterDirectory
    observer: Observer

    def __call__(self, parts: Sequence[str], now: datetime) -> Mapping[str, str]:
        """Refresh the parts; returns part → "ok" or what went wrong. ValueError names an unknown part."""
        unknown = [p for p in parts if p not in PARTS]
        if unknown:
            raise ValueError(f"refresh: no such part {', '.join(unknown)}; there are {', '.join(PARTS)}")
        return {part: self._part(part, now) for part in parts or PARTS}

    def _part(self, part: str, now: datetime) -> str:
        try:
            self._refreshers()[part](now)
        except OutsideError as error:
            self.observer.problem("", f"refresh {part}", str(error))
            return str(error)
        return "ok"

    def _refreshers(self) -> Mapping[str, Callable[[datetime], None]]:
        put = self.ledger.put_catalogue_part
        return {
            "types": lambda now: put("types", self.ec2.instance_types(), now),
            "offerings": lambda now: put("offerings", self.ec2.zones_by_type(), now),
            "prices": lambda now: put("prices", self.ec2.on_demand_prices(), now),
            "spot": lambda now: put("spot", self.ec2.spot_prices(now), now),
            "clusters": self._clusters,
            "images": self._images,
        }

    def _images(self, now: datetime) -> None:
        """Of every family, for every Kubernetes version in use: so that no launch waits for SSM."""
        versions = sorted({cluster.version for cluster in self.ledger.clusters()})
        parameters = [q.parameter for v in versions for f in FAMILIES for q in f.queries(v, "latest")]
        self.ledger.put_catalogue_part("images", self.images.by_parameters(parameters), now)

    def _clusters(self, now: datetime) -> None:
        """One cluster EKS doesn't tell of keeps no other from being refreshed."""
        failed: list[str] = []
        for cluster in self.ledger.clusters():
            try:
                self._cluster(cluster.name, now)
            except OutsideError as error:
                failed.append(f"{cluster.name}: {error}")
        if failed:
            raise UnavailableError("; ".join(failed))

    def _cluster(self, name: str, now: datetime) -> None:
        try:
            fresh = self.directory.describe(name)
        except NotFoundError:
            self.observer.problem(name, "cluster", "EKS does not know it any more: run `nodewright disconnect`")
            return
        try:
            stored = self.ledger.cluster(name)  # read last: a token or a pause that came meanwhile must stay
        except NotFoundError:
            return  # disconnected meanwhile
        self.ledger.put_cluster(replace(stored.with_facts(fresh), refreshed=now))
