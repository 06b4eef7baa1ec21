import { execFile } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { createOpenApiDocument } from "@herdctl/server";
import { Validator } from "@seriousme/openapi-schema-validator";
import openapiTS, { astToString } from "openapi-typescript";
import { expect, test } from "vitest";
import { waitUntil } from "../support/fleet-child-process.ts";
import { tempFolderWith } from "../support/temp-folder.ts";
import { startHttpHarness } from "./http-harness.ts";
import { sendRequest, startSocketHarness } from "./socket-harness.ts";

const run = promisify(execFile);
const root = resolve(import.meta.dirname, "../..");

test("serves a valid OpenAPI document", async () => {
  const { socket } = await startSocketHarness();
  const { json } = await sendRequest(socket, "GET", "/v1/openapi.json");
  const document = json as { paths: object } & Record<string, unknown>;
  expect(await new Validator().validate(document)).toMatchObject({ valid: true });
  const { paths } = document;
  expect(Object.keys(paths)).toEqual(
    expect.arrayContaining(["/v1/config", "/v1/sessions/{id}/fork", "/readyz", "/v1/agents"]),
  );
});

/** A program that knows the fleet only from the generated types. */
const program = `import createClient from "openapi-fetch";
import type { paths } from "./api";

declare const process: { env: Record<string, string>; stdout: { write(text: string): void } };
const headers = { authorization: "Bearer " + process.env.TOKEN };
const client = createClient<paths>({ baseUrl: process.env.FLEET, headers });
const triggered = await client.POST("/v1/jobs", { body: { agent: "coder", prompt: "Do it." } });
const id: string = triggered.data?.job.id ?? "";
const cancelled = await client.POST("/v1/jobs/{id}/cancel", { params: { path: { id } }, body: {} });
const seen = await client.GET("/v1/jobs/{id}", { params: { path: { id } } });
const refused = await client.GET("/v1/jobs/{id}", { params: { path: { id: "job-none" } } });
const all = await client.GET("/v1/jobs", { params: { query: { agent: "coder", limit: 5 } } });
process.stdout.write(
  JSON.stringify({
    id,
    status: cancelled.data?.status,
    outcome: seen.data?.job.outcome?.code,
    error: refused.error?.errors[0]?.code,
    count: all.data?.jobs.length,
  }),
);
`;

test("generates a client that runs a job and compiles", async () => {
  const types = await openapiTS(createOpenApiDocument() as Parameters<typeof openapiTS>[0]);
  const folder = tempFolderWith({
    "api.d.ts": astToString(types),
    "drive.mts": program,
    "tsconfig.json": JSON.stringify({
      compilerOptions: {
        target: "es2022",
        module: "esnext",
        moduleResolution: "bundler",
        strict: true,
        skipLibCheck: true,
        types: [],
        lib: ["es2022", "dom"],
      },
      files: ["drive.mts"],
    }),
  });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  await run(join(root, "node_modules/.bin/tsc"), ["-p", folder]);

  const { fleet, port, token } = await startHttpHarness();
  const env = { PATH: process.env.PATH, FLEET: `http://127.0.0.1:${port}`, TOKEN: token };
  const { stdout } = await run(process.execPath, [join(folder, "drive.mjs")], { env });
  const output = JSON.parse(stdout);
  expect(output).toMatchObject({
    status: "cancelled",
    outcome: "cancelled",
    error: "job_not_found",
    count: 1,
  });
  const found = await waitUntil("the job", async () => fleet.jobs.get(output.id));
  expect(found?.job.prompt).toBe("Do it.");
});
