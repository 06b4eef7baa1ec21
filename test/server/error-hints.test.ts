import { type ErrorDefinition, errorTable } from "@herdctl/protocol";
import { createOpenApiDocument } from "@herdctl/server";
import { expect, test } from "vitest";
import { z } from "zod";

const apiHints = Object.values<ErrorDefinition>(errorTable).map(
  ({ apiHint, hint }) => apiHint ?? hint,
);

test("names no command in the hints for clients of the API", () => {
  expect(apiHints.filter((hint) => /`herdctl |`--|command/.test(hint))).toEqual([]);
});

test("names only routes of the API in its hints", () => {
  const { paths } = z
    .object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })
    .parse(createOpenApiDocument());
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${withoutNames(path)}`),
  );
  const named = apiHints.flatMap((hint) =>
    [...hint.matchAll(/`([A-Z]+ \/v1\/[^`?]+)/g)].map(([, route = ""]) => withoutNames(route)),
  );
  expect(named.length).toBeGreaterThan(15);
  const known = [...routes, "GET /v1/openapi.json"];
  expect(named.filter((route) => !known.includes(route))).toEqual([]);
});

function withoutNames(path: string): string {
  return path.replaceAll(/\{\w+\}/g, "{}");
}
