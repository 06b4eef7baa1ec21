import { createApp, createOpenApiDocument } from "@herdctl/server";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { FakeFleet } from "./fake-fleet.ts";

interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
}

interface Operation {
  operationId: string;
  parameters?: { name: string; in: "path" | "query"; schema: Schema }[];
  requestBody?: { content: { "application/json": { schema: Schema } } };
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

// The document is generated; its form is checked by the validator of another test.
const document = createOpenApiDocument() as Document;
/** Streams have no end, and `shutdown` ends the test. */
const excluded = ["streamEvents", "streamJobOutput", "downloadArtifact", "shutdown"];
const requestTimeoutMs = 5_000;
const runsPerOperation = 25;

const operations = Object.entries(document.paths).flatMap(([path, byMethod]) =>
  Object.entries(byMethod)
    .filter(([, { operationId }]) => !excluded.includes(operationId))
    .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
);

const hostileText = fc.oneof(
  fc.constantFrom("", "coder", "writer", "issues", "__proto__", "../..", "\0", "\ud800", "x 1"),
  fc.constantFrom("9".repeat(400), "x".repeat(600), "2026-01-01T00:00:00Z", "allow", "manual"),
  fc.string({ unit: "binary", maxLength: 20 }),
);
const hostileNumber = fc.oneof(
  fc.constantFrom(0, 1, -1, 0.5, 3e9, 2 ** 53, 1e308, -1e308),
  fc.integer(),
);
const anyJson = fc.oneof(hostileText, hostileNumber, fc.boolean(), fc.constant(null), fc.json());

/** Mostly values that fit the schema; some that do not. */
function anyValue(schema: Schema): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 4, arbitrary: fittingValue(schema) },
    { weight: 1, arbitrary: anyJson },
  );
}

function fittingValue(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined)
    return fittingValue(document.components.schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {});
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(fittingValue));
  const [type] = [schema.type].flat();
  if (type === "object") {
    const fields = Object.entries(schema.properties ?? {}).map(
      ([name, field]): [string, fc.Arbitrary<unknown>] => [name, anyValue(field)],
    );
    return fc.record(Object.fromEntries(fields), { requiredKeys: [] });
  }
  if (type === "array") return fc.array(anyValue(schema.items ?? {}), { maxLength: 3 });
  if (type === "integer" || type === "number") return hostileNumber;
  return type === "boolean" ? fc.boolean() : hostileText;
}

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
ajv.addSchema({ $id: "api", ...document });

function schemaErrors(pointer: string, value: unknown): unknown {
  const validate = ajv.getSchema(`api#${pointer}`) ?? expect.fail(`no schema at ${pointer}`);
  return validate(value) ? null : validate.errors;
}

const escapePointer = (part: string) => part.replaceAll("~", "~0").replaceAll("/", "~1");

test.each(operations)("$method $path answers any request by its schema", async (target) => {
  const { method, path, operation } = target;
  const fleet = await FakeFleet.open();
  onTestFinished(() => fleet.close());
  const bugs: unknown[] = [];
  const app = createApp(fleet, { onBug: (bug) => bugs.push(bug) });
  const { job } = await fleet.jobs.trigger({ agent: "coder", prompt: "go" });
  const { parameters = [], requestBody } = operation;
  const part = (place: "path" | "query") => {
    const named = parameters.filter(
      // A long wait is not a hang.
      (parameter) => parameter.in === place && parameter.name !== "timeout",
    );
    const entries = named.map(({ name, schema }): [string, fc.Arbitrary<unknown>] => [
      name,
      name === "id" ? fc.oneof(fc.constant(job.id), anyValue(schema)) : anyValue(schema),
    ]);
    const requiredKeys = place === "path" ? undefined : [];
    return fc.record(Object.fromEntries(entries), { requiredKeys });
  };
  const body = requestBody
    ? anyValue(requestBody.content["application/json"].schema)
    : fc.constant(undefined);
  await fc.assert(
    fc.asyncProperty(part("path"), part("query"), body, async (params, query, value) => {
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => encode(params[name]));
      const search = Object.entries(query).map(([name, text]) => `${name}=${encode(text)}`);
      const url = `http://fleet${filled}?${search.join("&")}`;
      const hurried = operation.operationId === "waitForJob" ? `${url}&timeout=0.01` : url;
      const response = await Promise.race([
        app.request(hurried, {
          method,
          body: value === undefined ? undefined : JSON.stringify(value),
          headers: { "content-type": "application/json" },
        }),
        new Promise<never>((_, reject) => {
          setTimeout(() => reject(new Error(`${hurried} hangs`)), requestTimeoutMs).unref();
        }),
      ]);
      expect(bugs).toEqual([]);
      // Without an HTTP port, there can be no login link.
      if (operation.operationId === "createLoginLink" && response.status === 503) return;
      expect(response.status).toBeLessThan(500);
      if (response.status === 204) return;
      const isKnown = response.status === 200 && operation.responses[200] !== undefined;
      const key = isKnown ? "200" : "4XX";
      const pointer = ["paths", path, method.toLowerCase(), "responses", key, "content"];
      const full = [...pointer, "application/json", "schema"].map(escapePointer).join("/");
      expect(schemaErrors(`/${full}`, await response.json())).toBeNull();
    }),
    { numRuns: runsPerOperation },
  );
});

/** As in a URL; an unpaired surrogate becomes the replacement character, as it does in a browser. */
function encode(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return encodeURIComponent(text.toWellFormed());
}
