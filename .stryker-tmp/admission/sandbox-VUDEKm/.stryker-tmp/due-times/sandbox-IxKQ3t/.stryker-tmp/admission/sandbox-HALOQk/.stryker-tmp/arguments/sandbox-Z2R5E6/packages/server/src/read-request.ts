import type { HonoRequest } from "hono";
import type { AnyEndpoint, OptionalSchema } from "./contract/define-endpoint.ts";
import { InvalidRequestError } from "./error-response.ts";

/** Parses the parts of a request that the contract defines. Throws all issues together. */
export async function readRequest(endpoint: AnyEndpoint, request: HonoRequest) {
  const parts = {
    params: parsePart(endpoint.params, "path", request.param()),
    query: parsePart(endpoint.query, "query", request.query()),
    body: parsePart(endpoint.body, "body", endpoint.body && (await readJson(endpoint, request))),
  };
  const issues = Object.values(parts).flatMap((part) => part.issues);
  if (issues.length > 0) throw new InvalidRequestError(endpoint, issues);
  return { params: parts.params.value, query: parts.query.value, body: parts.body.value };
}

async function readJson(endpoint: AnyEndpoint, request: HonoRequest): Promise<unknown> {
  const text = await request.text();
  try {
    // An empty body counts as an empty object, because most bodies have only optional fields.
    return text.trim() === "" ? {} : JSON.parse(text);
  } catch (error) {
    const message = `not JSON: ${error instanceof Error ? error.message : error}`;
    throw new InvalidRequestError(endpoint, [{ path: ["body"], message }]);
  }
}

function parsePart(schema: OptionalSchema, partName: string, value: unknown) {
  if (!schema) return { value: undefined, issues: [] };
  const { data, error } = schema.safeParse(value);
  const issues = error?.issues.map((issue) => ({ ...issue, path: [partName, ...issue.path] }));
  return { value: data, issues: issues ?? [] };
}
