import { expect, test } from "vitest";
import { parseStoreAddress } from "../../../packages/core/src/store/postgres/store-address.ts";

test.each([
  ["postgres://herd:secret@db.example:6543/fleet", "postgres://herd@db.example:6543/fleet"],
  ["postgresql://herd@db.example/fleet", "postgres://herd@db.example:5432/fleet"],
  ["postgres://db.example/fleet?password=secret", "postgres://db.example:5432/fleet"],
  ["postgres://he%40rd:s@[::1]/fleet", "postgres://he@rd@[::1]:5432/fleet"],
  ["postgres://herd:secret@/fleet?host=/run/postgresql", "postgres://herd@/run/postgresql/fleet"],
])("shows %s as %s", (given, shown) => {
  const { name, connectionString } = parseStoreAddress(given);
  expect(name).toBe(shown);
  expect(connectionString).toBe(given);
});

test("detects a password anywhere in an address", () => {
  expect(parseStoreAddress("postgres://a:b@c/d").hasPassword).toBe(true);
  expect(parseStoreAddress("postgres://a@c/d?password=b").hasPassword).toBe(true);
  expect(parseStoreAddress("postgres://a@c/d").hasPassword).toBe(false);
});

test.each(["secret", "mysql://a@b/c", "postgres://host", "postgres:///", "postgres://h/%zz", ""])(
  "rejects %j without repeating it",
  (given) => {
    const parse = () => parseStoreAddress(given);
    expect(parse).toThrow(expect.objectContaining({ code: "store_refused" }));
    if (given.length > 3) expect(parse).not.toThrow(given);
  },
);
