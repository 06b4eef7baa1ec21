import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import type { AnyEndpoint } from "./contract/endpoint.ts";
import { failureSchema } from "./contract/errors.ts";
import { mediaTypes } from "./live/stream-response.ts";

type Registry = OpenAPIHono["openAPIRegistry"];
type Operation = Parameters<Registry["registerPath"]>[0];

/** Writes the endpoints down for the OpenAPI document. */
export function describe(registry: Registry, endpoints: readonly AnyEndpoint[]): void {
  for (const endpoint of endpoints) registry.registerPath(operationOf(endpoint));
}

function operationOf(endpoint: AnyEndpoint): Operation {
  const { params, query, body } = endpoint;
  return {
    method: endpoint.method === "GET" ? "get" : "post",
    path: endpoint.path.replaceAll(/:(\w+)/g, "{$1}"),
    summary: endpoint.summary,
    request: {
      ...(params instanceof z.ZodObject && { params }),
      ...(query instanceof z.ZodObject && { query }),
      ...(body && { body: { content: { "application/json": { schema: body } } } }),
    },
    responses: {
      ...successOf(endpoint),
      default: {
        description: "What went wrong",
        content: { "application/json": { schema: failureSchema } },
      },
    },
  };
}

function successOf({ response: schema, streams }: AnyEndpoint): Operation["responses"] {
  if (!schema) return { 204: { description: "Done" } };
  const types = streams ? Object.values(mediaTypes) : ["application/json"];
  const content = Object.fromEntries(types.map((type) => [type, { schema }]));
  return { 200: { description: streams ? "One after the other" : "The answer", content } };
}
