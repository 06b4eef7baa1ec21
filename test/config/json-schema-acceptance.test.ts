import { jsonSchema } from "@herdctl/config";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { expect, test } from "vitest";
import { agentSchema } from "../../packages/config/src/schema/agent.ts";
import { fleetSchema } from "../../packages/config/src/schema/fleet.ts";

const scalars = [
  0,
  1,
  -1,
  1.5,
  1e9,
  true,
  false,
  null,
  "",
  "text",
  "5m",
  "2g",
  "100",
  "a/b",
  "A_B",
];
const values: unknown[] = [
  ...scalars,
  ...scalars.map((value) => [value]),
  ...scalars.map((value) => ({ A: value })),
  ...[[], {}, [[1]], { A: [1, "b", false] }],
  { enabled: true },
  { enabled: true, env: { A: 1, B: null, C: false } },
  { weather: { command: "node", args: [1, true, null], env: { PORT: 80 } } },
  {
    hook: {
      type: "webhook",
      signature: { kind: "github", secret_env: "SECRET" },
      filter: {
        "issue.number": 7,
        "issue.draft": false,
        "issue.milestone": null,
        labels: [1, "x"],
      },
    },
  },
];

const schemas = {
  agent: { schema: agentSchema, base: { name: "a" }, json: jsonSchema("agent") },
  fleet: { schema: fleetSchema, base: { version: 1, agents: [] }, json: jsonSchema("fleet") },
};

test.each(Object.entries(schemas))(
  "editors accept every value that the loader accepts in the %s file",
  (_, { schema, base, json }) => {
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    const validate = ajv.compile(json);
    // The loader checks these two with the schema of agents.
    const keys = Object.keys(schema.shape).filter((key) => !/^(defaults|agents)$/.test(key));
    const documents = keys.flatMap((key) => values.map((value) => ({ ...base, [key]: value })));
    const accepted = documents.filter((document) => schema.safeParse(document).success);
    expect(accepted.length).toBeGreaterThan(keys.length);
    expect(accepted.filter((document) => !validate(document))).toEqual([]);
  },
);

test("neither the loader nor an editor takes a list or a block for a text", () => {
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(
    jsonSchema("agent"),
  );
  for (const env of [{ A: [1] }, { A: { B: 1 } }]) {
    expect(agentSchema.safeParse({ name: "a", env }).success).toBe(false);
    expect(validate({ name: "a", env })).toBe(false);
  }
});
