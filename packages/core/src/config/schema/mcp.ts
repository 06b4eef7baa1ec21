import { z } from "zod";
import { someText, stringMap, url } from "./texts.ts";

const run = z
  .enum(["host", "container"])
  .prefault("host")
  .describe("Where the server of a Docker agent runs");

const process = z.strictObject({
  command: someText.describe("Program to start"),
  args: z.array(z.coerce.string()).prefault([]).describe("Its arguments"),
  env: stringMap.prefault({}).describe("Its environment"),
  run,
});

const remote = z.strictObject({
  type: z.enum(["http", "sse"]).describe("Transport"),
  url: url("https", "http").describe("Address of the server"),
  headers: stringMap.prefault({}).describe("Headers sent with each request"),
  run,
});

export const mcpServer = z.union([process, remote]);
