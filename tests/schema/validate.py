"""Checks a JSON document against a JSON Schema: validate.py SCHEMA DOCUMENT. Needs the jsonschema package.

The schemas in docs/schema let properties be added, since programs that read a document must bear that. What is
printed today must be described all the same, so a strict copy of the schema is used here.
"""
import copy
import json
import sys

from jsonschema import Draft202012Validator


def strict(schema):
    """The same with `additionalProperties: true` made false, in all its parts."""
    if isinstance(schema, list):
        return [strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: strict(part) for key, part in schema.items()}
    if result.get("additionalProperties") is True:
        result["additionalProperties"] = False
    return result


def errors(schema, document):
    for error in Draft202012Validator(strict(schema)).iter_errors(document):
        where = "/".join(str(part) for part in error.absolute_path)
        yield f"at /{where}: {error.message[:300]}"


def added(document):
    """The document with a property more in each object: a later version may print that."""
    if isinstance(document, list):
        return [added(part) for part in document]
    if not isinstance(document, dict):
        return document
    result = {key: added(part) for key, part in document.items()}
    result["of_a_later_version"] = 1
    return result


def main():
    with open(sys.argv[1]) as file:
        schema = json.load(file)
    with open(sys.argv[2]) as file:
        document = json.load(file)
    Draft202012Validator.check_schema(schema)
    found = list(errors(schema, document))
    # The schema must be able to say no, and must bear additions.
    other = copy.deepcopy(document)
    other["schema"] += "0"
    if not list(errors(schema, other)):
        found.append("a document of another version is accepted")
    for error in Draft202012Validator(schema).iter_errors(added(document)):
        found.append(f"an addition is refused: {error.message[:300]}")
    for line in found[:20]:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
