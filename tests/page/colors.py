"""How far colours are apart, for everybody: OKLab distances, also as seen with the three kinds of colour blindness
(matrices of Machado, Oliveira and Fernandes, 2009, severity 1), and contrast as in WCAG."""
import math

SEEN = {
    "everybody": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def linear(text):
    """ "#rrggbb" or "#rgb" """
    digits = text.lstrip("#")
    digits = "".join(2 * digit for digit in digits) if len(digits) == 3 else digits
    parts = [int(digits[i:i + 2], 16) / 255 for i in (0, 2, 4)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def seen(color, who):
    return [min(1, max(0, sum(a * b for a, b in zip(row, color)))) for row in SEEN[who]]


def oklab(color):
    r, g, b = color
    l = (0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b) ** (1 / 3)
    m = (0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b) ** (1 / 3)
    s = (0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b) ** (1 / 3)
    return (100 * (0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s), 100 * (1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s),
            100 * (0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s))


def distance(one, other, who):
    return math.dist(oklab(seen(linear(one), who)), oklab(seen(linear(other), who)))


def lightness(color):
    return oklab(linear(color))[0]


def contrast(one, other):
    high, low = sorted((sum(a * b for a, b in zip((0.2126, 0.7152, 0.0722), linear(color))) for color in (one, other)), reverse=True)
    return (high + 0.05) / (low + 0.05)
