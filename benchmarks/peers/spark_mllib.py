"""Spark MLlib: MinHashLSH and its approximate similarity join.

It runs on one machine.
"""

from pyspark.ml.feature import HashingTF, MinHashLSH
from pyspark.sql import functions as F

import inputs
import spark_session

PACKAGES = ["pyspark", "numpy"]
FEATURES = 1 << 20
SHINGLES = "transform(sequence(1, greatest(length(text) - 4, 1)), i -> substring(text, i, 5))"


def dedup_file(path, folder, *, threshold, tables, memory):
    """Join the documents with themselves.

    A document is dropped if it is similar to an earlier one.
    """
    spark = spark_session.started(folder, memory)
    spark.conf.set("spark.sql.shuffle.partitions", 16)
    output = folder / "kept"

    def job():
        lines = spark.read.json(str(path), schema="id string, text string")
        documents = lines.select(
            F.regexp_extract("id", r"(\d+)$", 1).cast("long").alias("number"), "id", "text"
        )
        sets = HashingTF(
            inputCol="shingles", outputCol="features", numFeatures=FEATURES, binary=True
        ).transform(documents.select("number", F.expr(SHINGLES).alias("shingles")))
        sets = sets.drop("shingles")
        model = MinHashLSH(
            inputCol="features", outputCol="hashes", numHashTables=tables, seed=1
        ).fit(sets)
        hashed = model.transform(sets).cache()
        pairs = model.approxSimilarityJoin(hashed, hashed, 1 - threshold, "distance")
        later = pairs.where("datasetA.number < datasetB.number")
        removed = later.selectExpr("datasetB.number as number").distinct()
        documents.join(removed, "number", "left_anti").select("id", "text").write.json(str(output))
        return inputs.removed_from(path, lambda: inputs.identifiers(*sorted(output.glob("*.json"))))

    return job
