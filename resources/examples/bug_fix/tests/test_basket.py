"""What a basket costs."""

from __future__ import annotations

import unittest

from shop.basket import DELIVERY, Basket


class BasketTest(unittest.TestCase):
    """A basket adds up what is in it."""

    def setUp(self) -> None:
        """Begin with an empty basket."""
        self.basket = Basket()

    def check(self, got: int, wanted: int) -> None:
        """Compare two prices."""
        if got != wanted:
            self.fail(f"got {got}, wanted {wanted}")

    def test_an_empty_basket_costs_nothing(self) -> None:
        """Not even the delivery."""
        self.check(self.basket.total(), 0)

    def test_delivery_is_added_to_a_small_basket(self) -> None:
        """A single book."""
        self.basket.add("book", 1200)
        self.check(self.basket.total(), 1200 + DELIVERY)

    def test_delivery_is_free_for_a_large_basket(self) -> None:
        """Two bicycles."""
        self.basket.add("bicycle", 30000, count=2)
        self.check(self.basket.total(), 60000)

    def test_different_goods_add_up(self) -> None:
        """A book and a pen."""
        self.basket.add("book", 1200)
        self.basket.add("pen", 150)
        self.check(self.basket.goods(), 1350)
