import { z } from "zod";
import { someText, stringMap, url } from "./texts.ts";
import { block, free } from "./trust.ts";

const run = z
  .enum(["host", "container"])
  .prefault("host")
  .describe("Where the server of a Docker agent runs");

const process = block({
  command: free(someText.describe("Program to start")),
  args: free(z.array(z.coerce.string()).prefault([]).describe("Its arguments")),
  env: free(stringMap.prefault({}).describe("Its environment")),
  run: free(run),
});

const remote = block({
  type: free(z.enum(["http", "sse"]).describe("Transport")),
  url: free(url("https", "http").describe("Address of the server")),
  headers: free(stringMap.prefault({}).describe("Headers sent with each request")),
  run: free(run),
});

export const mcpServer = z.union([process, remote]);
