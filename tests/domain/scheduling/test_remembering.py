"""What is remembered of nodes: only those that changed are asked about anew."""

import numpy as np

from nodewright.domain.scheduling.arrays import Ints
from nodewright.domain.scheduling.remembering import Remembering


class Asked:
    """Answers with ten times the node's number, and keeps which nodes were asked about."""

    def __init__(self) -> None:
        self.nodes: list[list[int]] = []

    def __call__(self, nodes: Ints) -> Ints:
        self.nodes.append(nodes.tolist())
        return np.stack([nodes, 10 * nodes])


def test_each_node_is_asked_about_once_as_long_as_it_stays_what_it_is() -> None:
    remembering, asked = Remembering(), Asked()
    for _ in range(3):
        remembering.add()

    assert remembering.ask("q", asked).tolist() == [[0, 1, 2], [0, 10, 20]]
    assert remembering.ask("q", asked).tolist() == [[0, 1, 2], [0, 10, 20]]
    assert asked.nodes == [[0, 1, 2]]


def test_those_that_changed_and_those_that_came_are_asked_about_anew() -> None:
    remembering, asked = Remembering(), Asked()
    remembering.add()
    remembering.add()
    remembering.ask("q", asked)
    remembering.touch(0)
    remembering.add()

    assert remembering.ask("q", asked).tolist() == [[0, 1, 2], [0, 10, 20]]
    assert asked.nodes == [[0, 1], [0, 2]]


def test_every_question_has_answers_of_its_own() -> None:
    remembering, asked = Remembering(), Asked()
    remembering.add()
    remembering.ask("q", asked)
    remembering.ask("another", asked)

    assert asked.nodes == [[0], [0]]


def test_without_nodes_there_is_nothing_to_say() -> None:
    assert Remembering().ask("q", Asked()).shape == (2, 0)
