"""A basket of goods. Prices are whole cents."""

from __future__ import annotations

from dataclasses import dataclass

FREE_DELIVERY_FROM = 5000
DELIVERY = 490


@dataclass(frozen=True)
class Item:
    """Some pieces of one thing; `price` is that of a single piece."""

    name: str
    price: int
    count: int = 1


class Basket:
    """What somebody is about to buy."""

    def __init__(self) -> None:
        self.items: list[Item] = []

    def add(self, name: str, price: int, count: int = 1) -> None:
        """Put `count` pieces into the basket."""
        if price < 0 or count < 1:
            raise ValueError("a price is not negative, and at least one piece is bought")
        self.items.append(Item(name, price, count))

    def goods(self) -> int:
        """What the goods cost."""
        return sum(item.price for item in self.items)

    def delivery(self) -> int:
        """What the delivery costs: nothing for an empty basket, and nothing from 50.00 on."""
        if not self.items or self.goods() >= FREE_DELIVERY_FROM:
            return 0
        return DELIVERY

    def total(self) -> int:
        """What is to be paid."""
        return self.goods() + self.delivery()
