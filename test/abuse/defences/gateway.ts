import type { Defence } from "../defence.ts";

const doorsTest = "test/gateway/doors.test.ts";
const sealedTest = "test/gateway/sealed.test.ts";
const egressTest = "test/gateway/egress.test.ts";
const rulesTest = "test/gateway/egress-rules.test.ts";
const sealed = "packages/core/src/gateway/policy/sealed-request.ts";
const tunnelsTest = "test/gateway/tunnels.test.ts";
const tunnel = "packages/core/src/gateway/egress/tunnel.ts";
const target = "packages/core/src/gateway/egress/target.ts";

const door = "packages/core/src/gateway/door.ts";
const limitsTest = "test/gateway/connection-limits.test.ts";

export const gatewayDefences: readonly Defence[] = [
  {
    name: "the gateway of a run on the host listens on a unix socket",
    guards: "the conversation and the user's account, against other users after a crash",
    edit: {
      file: "packages/core/src/runner/open-doors.ts",
      from: "gateway = await startGateway({ ...options, ...socket });",
      to: "gateway = await startGateway({ ...options, ...(door ? socket : {}) } as never);",
    },
    red: {
      file: "test/abuse/gateway-takeover.test.ts",
      test: "another user who takes over the gateway's address after a crash gets nothing (cli)",
    },
  },
  {
    name: "a socket's short path is not in a folder where others can rename entries",
    guards: "the conversation and the user's account, against other users after a crash",
    edit: {
      file: "packages/core/src/runner/socket-path.ts",
      from: "return isOwned && isProtected && Buffer",
      to: "return (isOwned || isProtected) && Buffer",
    },
    red: {
      file: "test/runner/host-socket.test.ts",
      test: "a temporary folder in which others can rename entries is not used",
    },
  },
  {
    name: "a client of the gateway has to send its headers in time",
    guards: "the runner's memory",
    edit: { file: door, from: "headersTimeout: headersTimeoutMs,", to: "headersTimeout: 0," },
    red: { file: limitsTest, test: "a connection that sends no headers in time is closed" },
  },
  {
    name: "connections to the gateway without the key are few",
    guards: "the run, against processes that keep connections open",
    edit: {
      file: door,
      from: "if (this.unauthenticated.size > maxUnauthenticated) this.closeOldestUnauthenticated();",
      to: "if (this.unauthenticated.size > maxUnauthenticated * 1e9) this.closeOldestUnauthenticated();",
    },
    red: { file: limitsTest, test: "connections without the key make way for new ones" },
  },
  {
    name: "connections to the gateway are limited",
    guards: "the runner's memory",
    edit: {
      file: door,
      from: "this.server.maxConnections = maxConnections;",
      to: "this.server.maxConnections = maxConnections * 1e6;",
    },
    red: { file: limitsTest, test: "more connections than one agent needs are not accepted" },
  },
  {
    name: "the gateway asks for its own run's placeholder",
    guards: "the key's use, against other processes",
    edit: {
      file: "packages/core/src/gateway/credential.ts",
      from: "return presented.some((key) => sameText(key, placeholder));",
      to: "return presented.some((key) => sameText(key, key) || placeholder);",
    },
    red: { file: doorsTest, test: "a request with a wrong one for a key is turned away" },
  },
  {
    name: "only the few addresses of the API are open",
    guards: "files, batches and what else the key opens",
    edit: {
      file: "packages/core/src/gateway/route.ts",
      from: '{ method: "POST", path: /^\\/v1\\/messages$/, open: false },',
      to: '{ method: "POST", path: /^\\/v1\\//, open: false },',
    },
    red: { file: doorsTest, test: "POST /v1/files is refused and recorded" },
  },
  {
    name: "no other host is asked",
    guards: "the key, against an address in the request",
    edit: {
      file: "packages/core/src/gateway/route.ts",
      from: "if (origin !== upstream.origin) return undefined;",
      to: "",
    },
    red: { file: doorsTest, test: "an absolute-form target passes" },
  },
  {
    name: "a client's credential does not go up",
    guards: "the operator's account, against a mix of two",
    edit: {
      file: "packages/core/src/gateway/headers.ts",
      from: 'const stripped = credential.kind === "passthrough" ? [] : credentialHeaders;',
      to: "const stripped = credential ? [] : credentialHeaders;",
    },
    red: { file: "test/gateway/credentials.test.ts", test: "own credential does not go up" },
  },
  {
    name: "a key that the API echoes is starred",
    guards: "the key, on its way back",
    edit: {
      file: "packages/core/src/gateway/mask.ts",
      from: "for (; found !== -1; found = masked.indexOf(this.secret, found)) this.stars.copy(masked, found);",
      to: "found = 0;",
    },
    red: { file: "test/gateway/mask.test.ts", test: "however a text is cut" },
  },
  {
    name: "what the API would fetch or send is refused",
    guards: "what a container knows, against server tools",
    edit: {
      file: "packages/core/src/gateway/policy/reach.ts",
      from: "if (allow.includes(reach)) continue;",
      to: "if (allow || reach) continue;",
    },
    red: { file: sealedTest, test: "a POST that asks the API to fetch a page is refused" },
  },
  {
    name: "headers that switch such things on are refused",
    guards: "what a container knows, against server tools",
    edit: {
      file: sealed,
      from: "refuseAsk(betaAsks(String(betas)), allow) ?? refuseAsk",
      to: "(String(betas) ? undefined : refuseAsk(betaAsks(''), allow)) ?? refuseAsk",
    },
    red: { file: sealedTest, test: "a beta that switches such a thing on is refused" },
  },
  {
    name: "what goes on is what was looked at",
    guards: "the look at a body, against two readings of one text",
    edit: {
      file: "packages/core/src/gateway/policy/parse-body.ts",
      from: "bytes: again === text ? bytes : Buffer.from(again),",
      to: "bytes: again === text ? Buffer.from(again) : bytes,",
    },
    red: { file: sealedTest, test: "what goes on is what was looked at" },
  },
  {
    name: "an encoded body is refused",
    guards: "the look at a body",
    edit: {
      file: sealed,
      from: 'if (encoding !== "identity") return refuse("the body is encoded, so it cannot be looked at");',
      to: 'if (encoding === "") return refuse("");',
    },
    red: { file: sealedTest, test: "a body that is packed is refused" },
  },
  {
    name: "brackets are counted before they are parsed",
    guards: "the fleet's memory",
    edit: {
      file: "packages/core/src/gateway/policy/parse-body.ts",
      from: 'if (isOverloaded(bytes)) return malformed("is nested too deep or holds too many values");',
      to: "isOverloaded(bytes.subarray(0, 0));",
    },
    red: { file: sealedTest, test: "a body of brackets is refused" },
  },
  {
    name: "only named hosts are open",
    guards: "what a container knows, against every other host",
    edit: {
      file: "packages/core/src/gateway/egress/rules.ts",
      from: "if (fitting.length === 0) return undefined;",
      to: 'if (fitting.length === 0) return { kind: "resolve" };',
    },
    red: { file: egressTest, test: "any other host is refused with the line that would open it" },
  },
  {
    name: "a name must not lead to a private address",
    guards: "the machine's own network",
    edit: {
      file: "packages/core/src/gateway/egress/admission.ts",
      from: "if (why === undefined) continue;",
      to: "if (why !== null) continue;",
    },
    red: { file: egressTest, test: "a name that leads to a private address is refused" },
  },
  {
    name: "one judgement of public addresses for hooks and egress",
    guards: "the cloud around the machine, against an address that looks public",
    edit: {
      file: "packages/core/src/lib/public-address.ts",
      from: "if (metadataAddresses.includes(normal))",
      to: 'if (metadataAddresses.includes("") && normal)',
    },
    red: {
      file: "test/lib/public-address.test.ts",
      test: "hooks and egress agree on 168.63.129.16",
    },
  },
  {
    name: "hosts are opened by name, not by address",
    guards: "the machine's own network, against numbers in all their spellings",
    edit: {
      file: target,
      from: 'if (isNumeric(host)) return odd(text, "hosts are opened by name, not by address");\n  if (!isName(host)) return odd(text, "it is not the name of a host");',
      to: "",
    },
    red: { file: rulesTest, test: "a tunnel to" },
  },
  {
    name: "TLS is begun for the host of the tunnel",
    guards: "neighbours of an open host on one server",
    edit: {
      file: tunnel,
      from: "return said.name === host ? undefined :",
      to: 'return said.name !== "" || host ? undefined :',
    },
    red: { file: tunnelsTest, test: 'TLS that is begun for "other.test" is cut' },
  },
  {
    name: "a tunnel carries TLS only",
    guards: "neighbours of an open host on one server, against plain text with another Host",
    edit: {
      file: tunnel,
      from: 'return refuse("a tunnel carries TLS only; plain HTTP goes through the proxy directly", true);',
      to: "return undefined;",
    },
    red: {
      file: tunnelsTest,
      test: "plain HTTP in a tunnel does not reach a neighbour of an open host",
    },
  },
  {
    name: "TLS that names no host is refused",
    guards: "neighbours of an open host on one server",
    edit: {
      file: tunnel,
      from: 'return refuse("TLS was begun for a host without a name");',
      to: "return undefined;",
    },
    red: { file: tunnelsTest, test: 'TLS that is begun for "" is cut' },
  },
  {
    name: "an encrypted ClientHello is refused",
    guards: "neighbours of an open host on one server, against a name that nobody can read",
    edit: {
      file: "packages/core/src/gateway/egress/client-hello.ts",
      from: "if (encryptedNameExtensions.some((type) => extensions.has(type)))",
      to: "if (encryptedNameExtensions.every((type) => extensions.has(type)))",
    },
    red: { file: tunnelsTest, test: "an encrypted ClientHello of RFC 9849 is refused" },
  },
  {
    name: "a rule without a port opens port 443 only",
    guards: "neighbours of an open host on one server, against plain HTTP",
    edit: {
      file: "packages/core/src/gateway/egress/rules.ts",
      from: "if (port !== target.port) return false;",
      to: "if (port !== target.port && target.port !== 80) return false;",
    },
    red: { file: rulesTest, test: "example.com:80 is undefined" },
  },
  {
    name: "the host that is asked sees the name that was asked for",
    guards: "neighbours of an open host on one server",
    edit: {
      file: "packages/core/src/gateway/egress/plain.ts",
      from: "host: target.port === 80 ? target.host : `${target.host}:${target.port}`,",
      to: 'host: request.headers.host ?? "",',
    },
    red: { file: egressTest, test: "the Host that a host sees is the one that was asked for" },
  },
];
