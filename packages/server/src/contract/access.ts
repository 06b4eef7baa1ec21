import { accessTokenSchema, loginSchema, scopeSchema, UserError } from "@herdctl/core";
import { z } from "zod";
import { endpoint } from "./endpoint.ts";

/** Whether the fleet is there, who asks, and how a browser comes in. */
export const accessEndpoints = {
  health: endpoint("health", {
    summary: "Whether the process answers. Needs no token and tells nothing else.",
    response: z.object({ status: z.literal("ok") }),
    answer: async () => ({ status: "ok" as const }),
  }),
  ready: endpoint("ready", {
    summary: "Whether the fleet takes work; 503 while it starts, stops or cannot record anything.",
    response: z.object({ status: z.literal("ready") }),
    answer: async ({ control }) => {
      const { state } = (await control.status()).fleet;
      if (state === "running") return { status: "ready" as const };
      throw new UserError("fleet_unreachable", `the fleet is ${state}`, { hint: "Ask again." });
    },
  }),
  ping: endpoint("ping", {
    summary: "Whether a fleet answers here, and which version of this contract it speaks.",
    response: z.object({ api: z.literal(1) }),
    answer: async () => ({ api: 1 as const }),
  }),
  access: endpoint("access", {
    summary: "Who the caller is and what they may do; `agents` is null where all agents are meant.",
    response: z.object({
      identity: z.string(),
      scope: scopeSchema,
      agents: z.array(z.string()).nullable(),
    }),
    answer: async ({ visitor: { actor, scope, agents } }) => ({
      identity: actor.identity,
      scope,
      agents: agents && [...agents],
    }),
  }),
  loginLink: endpoint("loginLink", {
    summary:
      "A link that signs one browser in, once, within ten minutes. Only over the socket of the fleet.",
    body: z.strictObject({ read_only: z.boolean().default(false) }),
    response: z.object({ url: z.string(), expires_at: z.iso.datetime() }),
    answer: async ({ visitor, loginLink }, { body }) => {
      const { actor, credential } = visitor;
      if (credential.kind !== "local")
        throw new UserError("only_local", "this is for the local user only");
      const link = loginLink(body.read_only ? "read" : "admin", actor.identity);
      if (link) return link;
      throw new UserError("fleet_unreachable", "the fleet does not listen for browsers", {
        hint: "Run `herdctl status` to see why.",
      });
    },
  }),
  logins: endpoint("logins", {
    summary: "Browsers that are signed in, the newest first.",
    response: z.object({ logins: z.array(loginSchema) }),
    answer: async ({ control }) => ({ logins: await control.logins() }),
  }),
  endLogin: endpoint("endLogin", {
    summary: "Signs a browser out, by its id or by the part of it that identities show.",
    params: z.object({ id: z.string() }),
    answer: async ({ control }, { params }) => void (await control.endLogin(params.id)),
  }),
  endAllLogins: endpoint("endAllLogins", {
    summary: "Signs every browser out immediately, also the one that asks.",
    response: z.object({ ended: z.number().int() }),
    answer: async ({ control }) => ({ ended: await control.endAllLogins() }),
  }),
  tokens: endpoint("tokens", {
    summary: "Tokens that were created by name, without their secrets.",
    response: z.object({ tokens: z.array(accessTokenSchema) }),
    answer: async ({ control }) => ({ tokens: await control.tokens() }),
  }),
  createToken: endpoint("createToken", {
    summary:
      "Creates a token. Its `secret` is in this answer only. `agents` limits it to these agents; without `expires_at` it is good until it is revoked.",
    body: z.strictObject({
      name: z.string(),
      scope: scopeSchema,
      agents: z.array(z.string()).optional(),
      expires_at: z.iso.datetime().optional(),
    }),
    response: z.object({ token: accessTokenSchema, secret: z.string() }),
    answer: ({ control }, { body }) => control.createToken(body),
  }),
  revokeToken: endpoint("revokeToken", {
    summary: "Revokes a token immediately.",
    params: z.object({ name: z.string() }),
    answer: async ({ control }, { params }) => void (await control.revokeToken(params.name)),
  }),
};
