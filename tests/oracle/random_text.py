"""Random strings that the oracles and the tests (tests/random_text.c) make alike; other scripts import this one."""

POINTS = (list(map(ord, " abcAB'sr1234\n\r\t ,.  \n\n'stdmlrveSTDMLRVE0123456789aeiou"))
          + list(map(ord, "!?/-_$+=<>|`()[]{}\"#\x0b\x0c\x00\x7f\x85\xa0\xad\xaa\xb2\xb5\xb9\xba\xbd\xc9\xdf\xe9"))
          + [0x130, 0x131, 0x17f, 0x1c5, 0x2b0, 0x300, 0x301, 0x308, 0x345, 0x378, 0x58b, 0x60c, 0x663, 0x66c, 0x6d4,
             0x903, 0x93e, 0x964,
             0x969, 0xe01, 0xe31, 0xe81, 0x1100, 0x11a8, 0x1c89, 0x1e9e, 0x200b, 0x200c, 0x200d, 0x2014, 0x2018, 0x2019,
             0x201c, 0x2026,
             0x2028, 0x2029, 0x20dd, 0x2126, 0x212a, 0x2167, 0x2460, 0x24b6, 0x2e80, 0x2f00, 0x3000, 0x3001, 0x3002,
             0x3005, 0x3007,
             0x3021, 0x3042, 0x30ab, 0x30fc, 0x4e2d, 0x6587, 0x9fa5, 0x9fff, 0xa7cb, 0xac00, 0xd55c, 0xe000, 0xfeff,
             0xff01, 0xff21,
             0xff41, 0xfffd, 0xfffe, 0x10400, 0x10428, 0x10d50, 0x16fe4, 0x16ff0, 0x1d400, 0x1d7d8, 0x1f1e6, 0x1f3fd,
             0x1f469, 0x1f999,
             0x20000, 0x323af, 0xe0100, 0xf0000, 0x10ffff])


class Random:
    """The generator of tests/random_text.c."""

    def __init__(self):
        self.state = 1

    def next(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) & (2**64 - 1)
        return (self.state >> 33) % n

    def string(self):
        """Up to 30 characters; of four strings one repeats its characters, one is common text."""
        kind, n = self.next(4), 1 + self.next(30)
        points = []
        while len(points) < n:
            c = POINTS[self.next(63 if kind == 0 else len(POINTS))]
            points += [c] * (1 + self.next(5) if kind == 1 else 1)
        return "".join(map(chr, points))
