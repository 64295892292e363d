"""A shop: goods, and the basket that they are put into."""
