import { expect, test } from "vitest";
import { parseAddress } from "../../../packages/core/src/state/postgres/address.ts";

test.each([
  ["postgres://herd:secret@db.example:6543/fleet", "postgres://herd@db.example:6543/fleet"],
  ["postgresql://herd@db.example/fleet", "postgres://herd@db.example:5432/fleet"],
  ["postgres://db.example/fleet?password=secret", "postgres://db.example:5432/fleet"],
  ["postgres://he%40rd:s@[::1]/fleet", "postgres://he@rd@[::1]:5432/fleet"],
  ["postgres://herd:secret@/fleet?host=/run/postgresql", "postgres://herd@/run/postgresql/fleet"],
])("%s is shown as %s", (given, shown) => {
  const { name, connectionString } = parseAddress(given);
  expect(name).toBe(shown);
  expect(connectionString).toBe(given);
});

test("a password is seen wherever it stands", () => {
  expect(parseAddress("postgres://a:b@c/d").hasPassword).toBe(true);
  expect(parseAddress("postgres://a@c/d?password=b").hasPassword).toBe(true);
  expect(parseAddress("postgres://a@c/d").hasPassword).toBe(false);
});

test.each(["secret", "mysql://a@b/c", "postgres://host", "postgres:///", "postgres://h/%zz", ""])(
  "%j is no address, and is not repeated",
  (given) => {
    const parse = () => parseAddress(given);
    expect(parse).toThrow(expect.objectContaining({ code: "store_refused" }));
    if (given.length > 3) expect(parse).not.toThrow(given);
  },
);
