"""Keras on PyTorch: fit() with metrics, then predict()."""
import os

os.environ["KERAS_BACKEND"] = "torch"

import keras
import numpy

model = keras.Sequential([keras.layers.Input((28, 28, 1)), keras.layers.Conv2D(16, 3, activation="relu"), keras.layers.MaxPooling2D(),
                          keras.layers.Flatten(), keras.layers.Dropout(0.3), keras.layers.Dense(10, activation="softmax")])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
images, labels = numpy.random.rand(256, 28, 28, 1).astype("float32"), numpy.random.randint(0, 10, 256)
model.fit(images, labels, batch_size=32, epochs=2, validation_split=0.25, verbose=2)
model.predict(images[:32], verbose=0)
