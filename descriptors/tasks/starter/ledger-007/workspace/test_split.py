import unittest

from ledger.split import split


class Split(unittest.TestCase):
    def test_what_divides_evenly_is_split_evenly(self):
        self.assertEqual(split(900, [1, 1, 1]), [300, 300, 300])


if __name__ == "__main__":
    unittest.main()
