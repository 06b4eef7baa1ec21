import { type RouteName, routes } from "@herdctl/protocol";
import {
  accessTokenSchema,
  approvalSchema,
  artifactSchema,
  attemptSchema,
  deliverySchema,
  dueTimeRecordSchema,
  hookRunSchema,
  jobSchema,
  loginSchema,
  storedAuditRecordSchema,
} from "@herdctl/protocol/schemas";
import { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import { costViewSchema } from "./contract/costs.ts";
import type { AnyEndpoint } from "./contract/define-endpoint.ts";
import { endpoints } from "./contract/endpoints.ts";
import { errorBodySchema } from "./contract/errors.ts";
import { eventSchema } from "./contract/events.ts";
import { admissionSchema, jobOutputSchema, jobPageSchema, triggerSchema } from "./contract/jobs.ts";
import { nodeViewSchema } from "./contract/nodes.ts";
import { type OperationName, operationNames } from "./contract/openapi-operations.ts";
import { budgetViewSchema, scheduleViewSchema } from "./contract/schedules.ts";
import { routeScopes } from "./contract/scopes.ts";
import { sessionViewSchema } from "./contract/sessions.ts";
import { agentStatusSchema, fleetStatusSchema } from "./contract/status.ts";

/** The component schemas of the document. Generated clients name their types after them. */
const componentSchemas: Record<string, z.ZodType> = {
  AccessToken: accessTokenSchema,
  Admission: admissionSchema,
  AgentStatus: agentStatusSchema,
  Approval: approvalSchema,
  Artifact: artifactSchema,
  Attempt: attemptSchema,
  AuditRecord: storedAuditRecordSchema,
  Budget: budgetViewSchema,
  Costs: costViewSchema,
  Delivery: deliverySchema,
  DueTime: dueTimeRecordSchema,
  ErrorResponse: errorBodySchema,
  FleetEvent: eventSchema,
  FleetStatus: fleetStatusSchema,
  HookRun: hookRunSchema,
  Job: jobSchema,
  JobOutput: jobOutputSchema,
  JobPage: jobPageSchema,
  Login: loginSchema,
  Node: nodeViewSchema,
  Schedule: scheduleViewSchema,
  Session: sessionViewSchema,
  TriggerRequest: triggerSchema,
};

const info = {
  title: "herdctl control API",
  version: "1",
  description:
    "Controls a fleet of Claude Code agents: trigger and follow jobs, answer approvals, read costs and logs. See https://herdctl.dev for the guide.",
  license: { name: "MIT", identifier: "MIT" },
};

/** The whole contract as an OpenAPI 3.1 document. */
export function createOpenApiDocument(): object {
  for (const [title, schema] of Object.entries(componentSchemas))
    z.globalRegistry.add(schema, { title });
  const openApi = new OpenAPIHono();
  for (const name of Object.keys(routes).filter(isRouteName))
    openApi.openAPIRegistry.registerPath(toOperation(name, endpoints[name]));
  const document = openApi.getOpenAPI31Document({
    openapi: "3.1.0",
    info,
    servers: [{ url: "http://127.0.0.1:3232", description: "The HTTP port of a fleet" }],
    security: [{ token: [] }],
    tags: [...new Set(Object.values(operationNames).map(([tag]) => tag))].map((name) => ({ name })),
  });
  const schemas: Record<string, unknown> = {};
  const paths = hoistSchemas(document.paths, schemas);
  const securitySchemes = {
    token: {
      type: "http",
      scheme: "bearer",
      description: "A token of the fleet: `herdctl token`, or a named one from `POST /v1/tokens`.",
    },
  };
  return { ...document, paths, components: { schemas: sortKeys(schemas), securitySchemes } };
}

function isRouteName(name: string): name is RouteName {
  return Object.hasOwn(routes, name);
}

type Operation = Parameters<OpenAPIHono["openAPIRegistry"]["registerPath"]>[0];

const methods = { GET: "get", POST: "post", PATCH: "patch", DELETE: "delete" } as const;

function toOperation(name: RouteName, endpoint: AnyEndpoint): Operation {
  const { params, query, body, summary } = endpoint;
  const [tag, operationId]: OperationName = operationNames[name];
  const scope = routeScopes[name] ?? "admin";
  return {
    method: methods[endpoint.method],
    path: endpoint.path.replaceAll(/:(\w+)/g, "{$1}"),
    operationId,
    tags: [tag],
    summary: /^[^.]*/.exec(summary)?.[0] ?? summary,
    description: summary,
    "x-scope": scope,
    ...(scope === "public" && { security: [] }),
    request: {
      ...(params instanceof z.ZodObject && { params }),
      ...(query instanceof z.ZodObject && { query }),
      ...(body && {
        body: {
          content: { "application/json": { schema: body } },
          // An empty body counts as an empty object.
          required: !body.safeParse({}).success,
        },
      }),
    },
    responses: {
      ...successResponses(endpoint),
      "4XX": errorResponse("The request is invalid or was refused."),
      default: errorResponse("The fleet cannot serve the request."),
    },
  };
}

function errorResponse(description: string) {
  return { description, content: { "application/json": { schema: errorBodySchema } } };
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

/** Moves each schema with the title of a component to the components and refers to it. */
function hoistSchemas(value: unknown, schemas: Record<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((item) => hoistSchemas(item, schemas));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, hoistSchemas(item, schemas)]);
  const { title, ...schema } = Object.fromEntries(entries);
  if (typeof title !== "string" || !Object.hasOwn(componentSchemas, title))
    return title === undefined ? schema : { title, ...schema };
  const reference = { $ref: `#/components/schemas/${title}` };
  // The title of a schema stays on its nullable variant.
  const types: unknown[] = Array.isArray(schema.type) ? schema.type : [];
  if (!types.includes("null")) {
    schemas[title] = schema;
    return reference;
  }
  schemas[title] = { ...schema, type: types.find((type) => type !== "null") };
  return { anyOf: [reference, { type: "null" }] };
}

function sortKeys(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
