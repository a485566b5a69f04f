"""Ultralytics' YOLO from its configuration file, on pictures and labels made here, by its own trainer."""
import os
import tempfile
from pathlib import Path

import numpy
from PIL import Image

place = Path(tempfile.mkdtemp())
os.environ.setdefault("YOLO_CONFIG_DIR", str(place))
draw = numpy.random.default_rng(0)
for part in ("train", "val"):
    (place / "images" / part).mkdir(parents=True)
    (place / "labels" / part).mkdir(parents=True)
    for number in range(8):
        Image.fromarray(draw.integers(0, 255, (96, 96, 3), dtype=numpy.uint8)).save(place / "images" / part / f"{number}.png")
        boxes = [f"{draw.integers(0, 3)} {draw.uniform(.3, .7):.3f} {draw.uniform(.3, .7):.3f} .3 .4" for _ in range(number % 4 + 1)]
        (place / "labels" / part / f"{number}.txt").write_text("\n".join(boxes))
(place / "data.yaml").write_text(f"path: {place}\ntrain: images/train\nval: images/val\nnames: [a, b, c]\n")

from ultralytics import YOLO

YOLO("yolov8n.yaml").train(data=str(place / "data.yaml"), epochs=3, imgsz=96, batch=4, device=0, workers=0, amp=False, plots=False, val=False,
                           save=False, project=str(place), verbose=False, optimizer="SGD", nbs=4)
