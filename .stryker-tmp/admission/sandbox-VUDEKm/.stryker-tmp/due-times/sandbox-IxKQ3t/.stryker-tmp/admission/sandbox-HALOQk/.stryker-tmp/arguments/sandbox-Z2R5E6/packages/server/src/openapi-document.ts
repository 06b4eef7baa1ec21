import {
  accessTokenSchema,
  approvalSchema,
  attemptSchema,
  deliverySchema,
  jobSchema,
  loginSchema,
  storedAuditRecordSchema,
} from "@herdctl/protocol/schemas";
import { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import type { AnyEndpoint } from "./contract/define-endpoint.ts";
import { endpoints } from "./contract/endpoints.ts";
import { errorBodySchema } from "./contract/errors.ts";
import { eventSchema } from "./contract/events.ts";
import { jobOutputSchema } from "./contract/jobs.ts";
import type { RouteName } from "./contract/routes.ts";
import { routeScopes } from "./contract/scopes.ts";
import { fleetStatusSchema } from "./contract/status.ts";

/** Schemas with a title in the document. */
const titledSchemas = {
  AccessToken: accessTokenSchema,
  Approval: approvalSchema,
  Attempt: attemptSchema,
  AuditRecord: storedAuditRecordSchema,
  Delivery: deliverySchema,
  Failure: errorBodySchema,
  FleetEvent: eventSchema,
  FleetStatus: fleetStatusSchema,
  Job: jobSchema,
  JobOutput: jobOutputSchema,
  Login: loginSchema,
};

/** The whole contract as an OpenAPI 3.1 document. */
export function createOpenApiDocument(): object {
  for (const [title, schema] of Object.entries(titledSchemas))
    z.globalRegistry.add(schema, { title });
  const openApi = new OpenAPIHono();
  for (const [name, endpoint] of Object.entries<AnyEndpoint>(endpoints)) {
    // `endpoints` has exactly the keys of `routes`.
    const scope = routeScopes[name as RouteName] ?? "admin";
    openApi.openAPIRegistry.registerPath({ ...toOperation(endpoint), "x-scope": scope });
  }
  const info = { title: "herdctl control API", version: "1" };
  return openApi.getOpenAPI31Document({ openapi: "3.1.0", info });
}

type Operation = Parameters<OpenAPIHono["openAPIRegistry"]["registerPath"]>[0];

function toOperation(endpoint: AnyEndpoint): Operation {
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
      ...successResponses(endpoint),
      default: {
        description: "Error",
        content: { "application/json": { schema: errorBodySchema } },
      },
    },
  };
}

function successResponses({
  response: schema,
  streamMediaTypes,
}: AnyEndpoint): Operation["responses"] {
  if (!schema) return { 204: { description: "Success, without content" } };
  const mediaTypes = streamMediaTypes ?? ["application/json"];
  const content = Object.fromEntries(mediaTypes.map((type) => [type, { schema }]));
  return { 200: { description: streamMediaTypes ? "Success, as a stream" : "Success", content } };
}
