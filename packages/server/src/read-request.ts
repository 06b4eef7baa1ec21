import type { HonoRequest } from "hono";
import type { AnyEndpoint, Part } from "./contract/endpoint.ts";
import { InvalidRequest } from "./failure.ts";

/** The parts of a request that its contract names, or everything that is wrong with them at once. */
export async function readRequest(endpoint: AnyEndpoint, request: HonoRequest) {
  const parts = {
    params: read(endpoint.params, "path", request.param()),
    query: read(endpoint.query, "query", request.query()),
    body: read(endpoint.body, "body", endpoint.body && (await readJson(endpoint, request))),
  };
  const issues = Object.values(parts).flatMap((part) => part.issues);
  if (issues.length > 0) throw new InvalidRequest(endpoint, issues);
  return { params: parts.params.value, query: parts.query.value, body: parts.body.value };
}

async function readJson(endpoint: AnyEndpoint, request: HonoRequest): Promise<unknown> {
  const text = await request.text();
  try {
    // Most bodies have nothing that must be said.
    return text.trim() === "" ? {} : JSON.parse(text);
  } catch (error) {
    const message = `not JSON: ${error instanceof Error ? error.message : error}`;
    throw new InvalidRequest(endpoint, [{ path: ["body"], message }]);
  }
}

function read(schema: Part, name: string, given: unknown) {
  if (!schema) return { value: undefined, issues: [] };
  const { data, error } = schema.safeParse(given);
  const issues = error?.issues.map((issue) => ({ ...issue, path: [name, ...issue.path] }));
  return { value: data, issues: issues ?? [] };
}
