import { UserError } from "@herdctl/protocol";
import { accessTokenSchema, loginSchema, scopeSchema } from "@herdctl/protocol/schemas";
import { z } from "zod";
import { defineEndpoint } from "./define-endpoint.ts";

/** Health checks, the caller's identity, browser logins and tokens. */
export const authEndpoints = {
  health: defineEndpoint("health", {
    summary: "Check that the process responds. Needs no token and returns no other information.",
    response: z.object({ status: z.literal("ok") }),
    handle: async () => ({ status: "ok" as const }),
  }),
  ready: defineEndpoint("ready", {
    summary:
      "Check that the fleet accepts work. Responds with 503 while it starts, stops or cannot write to its store.",
    response: z.object({ status: z.literal("ready") }),
    handle: async ({ control }) => {
      const { state } = (await control.status()).fleet;
      if (state === "running") return { status: "ready" as const };
      throw new UserError("fleet_unreachable", `the fleet is ${state}`, {
        hint: "Try again later.",
      });
    },
  }),
  ping: defineEndpoint("ping", {
    summary: "Check that a fleet listens here and get its API version.",
    response: z.object({ api: z.literal(1) }),
    handle: async () => ({ api: 1 as const }),
  }),
  access: defineEndpoint("access", {
    summary:
      "Get the caller's identity and scope. `agents` is null if the caller may see all agents.",
    response: z.object({
      identity: z.string(),
      scope: scopeSchema,
      agents: z.array(z.string()).nullable(),
    }),
    handle: async ({ caller: { actor, scope, agents } }) => ({
      identity: actor.identity,
      scope,
      agents: agents && [...agents],
    }),
  }),
  loginLink: defineEndpoint("loginLink", {
    summary:
      "Create a link that signs in one browser, once, within ten minutes. Only available on the fleet's socket.",
    body: z.strictObject({ read_only: z.boolean().default(false) }),
    response: z.object({ url: z.string(), expires_at: z.iso.datetime() }),
    handle: async ({ caller, createLoginLink }, { body }) => {
      const { actor, credential } = caller;
      if (credential.kind !== "local")
        throw new UserError("only_local", "login links can be created on the fleet's socket only");
      const link = createLoginLink(body.read_only ? "read" : "admin", actor.identity);
      if (link) return link;
      throw new UserError("fleet_unreachable", "the fleet is not listening on an HTTP port", {
        hint: "`GET /v1/status` and the fleet's log show why.",
      });
    },
  }),
  logins: defineEndpoint("logins", {
    summary: "List signed-in browsers, newest first.",
    response: z.object({ logins: z.array(loginSchema) }),
    handle: async ({ control }) => ({ logins: await control.logins.list() }),
  }),
  endLogin: defineEndpoint("endLogin", {
    summary: "Sign out a browser, by its id or by the short id shown in identities.",
    params: z.object({ id: z.string() }),
    handle: async ({ control }, { params }) => void (await control.logins.end(params.id)),
  }),
  endAllLogins: defineEndpoint("endAllLogins", {
    summary: "Sign out all browsers immediately, including the caller's.",
    response: z.object({ ended: z.number().int() }),
    handle: async ({ control }) => ({ ended: await control.logins.endAll() }),
  }),
  tokens: defineEndpoint("tokens", {
    summary: "List named tokens, without their secrets.",
    response: z.object({ tokens: z.array(accessTokenSchema) }),
    handle: async ({ control }) => ({ tokens: await control.tokens.list() }),
  }),
  createToken: defineEndpoint("createToken", {
    summary:
      "Create a token. Only this response contains its `secret`. `agents` limits the token to these agents; without `expires_at` it is valid until it is revoked.",
    body: z.strictObject({
      name: z.string(),
      scope: scopeSchema,
      agents: z.array(z.string()).optional(),
      expires_at: z.iso.datetime().optional(),
    }),
    response: z.object({ token: accessTokenSchema, secret: z.string() }),
    handle: ({ control }, { body }) => control.tokens.create(body),
  }),
  revokeToken: defineEndpoint("revokeToken", {
    summary: "Revoke a token immediately.",
    params: z.object({ name: z.string() }),
    handle: async ({ control }, { params }) => void (await control.tokens.revoke(params.name)),
  }),
};
