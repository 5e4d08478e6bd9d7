"""Make the two tables of this example: ``python -m hotels.make_data``.

What a guest likes depends on the trip: the distance matters on business, the price with a family,
the rating for romance. The grades are 0 to 3, and a few of them are wrong, as in real data.
"""

from __future__ import annotations

import csv
import random
from pathlib import Path

ROOT = Path(__file__).parent.parent
HEADER = ["query_id", "query", "trip", "doc_id", "relevance", "price", "rating", "distance", "pool"]
TASTE = {
    "business": {"price": -0.3, "rating": 0.5, "distance": -1.4, "pool": 0.0},
    "family": {"price": -1.2, "rating": 0.4, "distance": -0.2, "pool": 0.9},
    "romance": {"price": -0.1, "rating": 1.5, "distance": -0.4, "pool": 0.3},
}


def main() -> None:
    """Write both tables."""
    draw = random.Random(7)
    write(ROOT / "training" / "hotels.csv", "train", 240, draw)
    write(ROOT / "golden" / "hotels.csv", "q", 120, draw)


def write(path: Path, prefix: str, queries: int, draw: random.Random) -> None:
    """Write the candidates of some queries with their grades."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(HEADER)
        for number in range(queries):
            trip = draw.choice(list(TASTE))
            city = draw.choice(["Porto", "Riga", "Ghent", "Turin", "Graz"])
            for place in range(10):
                hotel = {
                    "price": round(draw.lognormvariate(4.6, 0.4)),
                    "rating": round(draw.uniform(2.5, 5), 1),
                    "distance": round(draw.expovariate(0.5), 1),
                    "pool": draw.randrange(2),
                }
                row = [f"{prefix}{number:03}", f"{trip} trip to {city}", trip]
                row += [f"{prefix}{number:03}-h{place}", grade(trip, hotel, draw), *hotel.values()]
                table.writerow(row)


def grade(trip: str, hotel: dict[str, float], draw: random.Random) -> int:
    """Return how much a guest likes a hotel."""
    taste = TASTE[trip]
    liking = (
        taste["price"] * (hotel["price"] - 100) / 50
        + taste["rating"] * (hotel["rating"] - 3.75)
        + taste["distance"] * (hotel["distance"] - 2)
        + taste["pool"] * (hotel["pool"] - 0.5)
        + draw.gauss(0, 0.4)
    )
    return sum(liking > bound for bound in (0, 1, 2))


if __name__ == "__main__":
    main()
