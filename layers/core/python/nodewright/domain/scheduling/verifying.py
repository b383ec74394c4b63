"""Does a plan keep every rule between pods, in whatever order kube-scheduler binds them?

Written apart from the placement and plainly: it looks at the final state, at who is where he can't be, and at who
may never come there.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from nodewright.domain.host_ports import conflicts
from nodewright.domain.plans import Plan
from nodewright.domain.pods import PodKey
from nodewright.domain.scheduling.coming import stuck
from nodewright.domain.scheduling.final_state import Site, final_state
from nodewright.domain.scheduling.ledger import Ledger
from nodewright.domain.scheduling.rules import AffinityRule, RepulsionRule, Rule, SpreadRule
from nodewright.domain.snapshot import Snapshot


def unkept(snapshot: Snapshot, plan: Plan) -> Mapping[PodKey, str]:
    """Planned pods that may not come to their nodes → what may keep them out.

    First those that nothing can help; only where there are none of them, those that may wait for ever.
    """
    ledger = Ledger(final_state(snapshot, plan), snapshot.namespaces)
    refused = dict(_refused(ledger))
    return refused or {key: _named(ledger.rules[rule]) for key, rule in stuck(ledger).items()}


def _refused(ledger: Ledger) -> Iterator[tuple[PodKey, str]]:
    for number, repelling in ledger.repelling().items():
        rule = ledger.rules[number]
        if isinstance(rule, RepulsionRule):
            domains = ledger.domains(rule.term.topology_key)
            owners: defaultdict[str | None, list[PodKey | None]] = defaultdict(list)
            for site, owner in repelling:
                owners[domains[site]].append(owner)
            for site, member in ledger.members[number]:
                for owner in owners.get(domains[site], ()) if domains[site] is not None else ():
                    if owner != member:
                        both = (key for key in (owner, member) if key is not None and key in ledger.site_of)
                        yield from ((key, _named(rule)) for key in both)
    for each in ledger.sites:
        yield from _clashing(each)
        yield from _unattached(each)


def _clashing(site: Site) -> Iterator[tuple[PodKey, str]]:
    taken = list(site.host_ports)
    for pod in site.planned:
        if any(conflicts(pod.host_ports, taken)):
            yield pod.key, "a host port"
        taken += pod.host_ports


def _unattached(site: Site) -> Iterator[tuple[PodKey, str]]:
    there = set(site.attached)
    for pod in site.planned:
        there |= pod.attachments
        drivers = {each.driver for each in pod.attachments} & site.attachable.keys()
        if any(sum(each.driver == driver for each in there) > site.attachable[driver] for driver in drivers):
            yield pod.key, "the attach limit"


def _named(rule: Rule) -> str:
    if isinstance(rule, SpreadRule):
        return f"topology spread over {rule.key}"
    if isinstance(rule, AffinityRule):
        return f"pod affinity over {', '.join(term.topology_key for term in rule.terms)}"
    return f"pod anti-affinity over {rule.term.topology_key}"
