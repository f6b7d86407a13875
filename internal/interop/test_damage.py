"""A value that someone else changed in silver is found, and named."""

import pytest
from deltalake import DeltaTable


def by_delta_rs(_, path, key, value):
    done = DeltaTable(path).update(predicate=f"order_id = {key}", updates={"customer": f"'{value}'"})
    assert done["num_updated_rows"] == 1


def by_spark(request, path, key, value):
    request.getfixturevalue("spark").session.sql(f"UPDATE delta.`{path}` SET customer = '{value}' WHERE order_id = {key}")


@pytest.mark.parametrize("change", [by_delta_rs, by_spark])
@pytest.mark.parametrize(("path", "check"), [("lake", 'check.all["orders"]'), ("plain", "check.plain")])
def test_a_changed_value_fails_the_check(lake, request, pipectl, change, path, check):
    table = lake.home / path / "silver/orders"
    row = pipectl.rows(table, {"order_id": "integer", "customer": "string"})[0]
    change(request, table, row[0], "someone else")
    out = lake.pipectl("check", "-target", check, want=5)
    assert f'{{"order_id":{row[0]}}}' in out.replace(" ", "")
    assert "RECORD_DIFF" in out and "customer" in out
    # Put right again, it is equal again.
    change(request, table, row[0], row[1].replace("'", "''"))
    assert "equal" in lake.pipectl("check", "-target", check)
