import {
  accessTokenSchema,
  approvalSchema,
  attemptSchema,
  deliverySchema,
  jobSchema,
  loginSchema,
  storedAuditRecordSchema,
} from "@herdctl/core";
import { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import type { AnyEndpoint } from "./contract/endpoint.ts";
import { endpoints } from "./contract/endpoints.ts";
import { failureSchema } from "./contract/errors.ts";
import { eventSchema } from "./contract/events.ts";
import { jobOutputSchema } from "./contract/jobs.ts";
import type { RouteName } from "./contract/routes.ts";
import { routeScopes } from "./contract/scopes.ts";
import { fleetStatusSchema } from "./contract/status.ts";

/** Titles of what is answered in more than one place or looked for by name. */
const titles = {
  AccessToken: accessTokenSchema,
  Approval: approvalSchema,
  Attempt: attemptSchema,
  AuditRecord: storedAuditRecordSchema,
  Delivery: deliverySchema,
  Failure: failureSchema,
  FleetEvent: eventSchema,
  FleetStatus: fleetStatusSchema,
  Job: jobSchema,
  JobOutput: jobOutputSchema,
  Login: loginSchema,
};

/** The whole contract as an OpenAPI 3.1 document. */
export function openApiDocument(): object {
  for (const [title, schema] of Object.entries(titles)) z.globalRegistry.add(schema, { title });
  const paper = new OpenAPIHono();
  for (const [name, endpoint] of Object.entries<AnyEndpoint>(endpoints)) {
    // The edge: `endpoints` has exactly the names of `routes`.
    const scope = routeScopes[name as RouteName] ?? "admin";
    paper.openAPIRegistry.registerPath({ ...operationOf(endpoint), "x-scope": scope });
  }
  const info = { title: "herdctl control API", version: "1" };
  return paper.getOpenAPI31Document({ openapi: "3.1.0", info });
}

type Operation = Parameters<OpenAPIHono["openAPIRegistry"]["registerPath"]>[0];

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
  const types = streams ?? ["application/json"];
  const content = Object.fromEntries(types.map((type) => [type, { schema }]));
  return { 200: { description: streams ? "One after the other" : "The answer", content } };
}
