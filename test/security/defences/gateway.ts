import type { Defence } from "../defence.ts";

const listenersTest = "test/gateway/request-forwarding.test.ts";
const sealedTest = "test/gateway/request-policy.test.ts";
const egressTest = "test/gateway/egress.test.ts";
const rulesTest = "test/gateway/egress-rules.test.ts";
const tunnelsTest = "test/gateway/egress-tunnels.test.ts";

const limitsTest = "test/gateway/connection-limits.test.ts";

const adaptersTest = "test/providers/adapters.test.ts";
const credentialsTest = "test/providers/credentials.test.ts";

export const gatewayDefences: readonly Defence[] = [
  {
    name: "the gateway of a run on the host listens on a unix socket",
    protects: "the conversation and the user's account, against other users after a crash",
    mark: "gateway-unix-socket",
    without: "",
    failingTest: {
      file: "test/security/gateway-takeover.test.ts",
      test: "reveals nothing to another user who takes over the gateway's address after a crash (cli)",
    },
  },
  {
    name: "a socket's short path is not in a folder where others can rename entries",
    protects: "the conversation and the user's account, against other users after a crash",
    mark: "protected-socket-folder",
    without: "return ($1 || $2) && $expression.right;",
    failingTest: {
      file: "test/runner/socket-path.test.ts",
      test: "refuses a temporary folder in which others can rename entries",
    },
  },
  {
    name: "a client of the gateway must send its headers in time",
    protects: "the runner's memory",
    mark: "gateway-headers-timeout",
    without: "$name: 0",
    failingTest: { file: limitsTest, test: "closes a connection that sends no headers in time" },
  },
  {
    name: "connections to the gateway without the key are limited",
    protects: "the run, against processes that keep connections open",
    mark: "gateway-unauthenticated-limit",
    without: "$0 * 1e9",
    failingTest: {
      file: limitsTest,
      test: "closes connections without the key for new ones, and keeps one with the key",
    },
  },
  {
    name: "connections to the gateway are limited",
    protects: "the runner's memory",
    mark: "gateway-connection-limit",
    without: "$expression * 1e6;",
    failingTest: {
      file: limitsTest,
      test: "refuses more connections than one agent needs",
    },
  },
  {
    name: "the gateway requires the run's own placeholder",
    protects: "use of the key, against other processes",
    mark: "gateway-placeholder",
    without: "return $expression.expression(($3) => $4($3, $3) || $5);",
    failingTest: {
      file: listenersTest,
      test: "refuses a request with a wrong one as the key",
    },
  },
  {
    name: "only a few API endpoints are open",
    protects: "files, batches and other endpoints that the key opens",
    mark: "gateway-routes",
    without: "/^\\/v1\\//",
    failingTest: { file: listenersTest, test: "refuses and records POST /v1/files" },
  },
  {
    name: "requests go to the upstream only",
    protects: "the key, against an address in the request",
    mark: "gateway-origin",
    without: "",
    failingTest: {
      file: listenersTest,
      test: "accepts an absolute-form target only for the upstream and the gateway itself",
    },
  },
  {
    name: "a client's credential is not forwarded",
    protects: "the operator's account, against mixed credentials",
    mark: "no-client-credential",
    without: "const $1 = $2 ? [] : $4;",
    failingTest: {
      file: "test/gateway/credentials.test.ts",
      test: "does not forward a client's own credential beside the fleet's",
    },
  },
  {
    name: "a key that the API echoes is masked",
    protects: "the key, in responses",
    mark: "mask-echoed-key",
    without: "$1 = 0;",
    failingTest: {
      file: "test/gateway/credential-mask.test.ts",
      test: "masks the secret in a text that is split anywhere, and changes nothing else",
    },
  },
  {
    name: "requests that make the API fetch or send data are refused",
    protects: "data in a container, against server tools",
    mark: "no-server-side-reach",
    without: "if ($1 || $3) continue;",
    failingTest: {
      file: sealedTest,
      test: "refuses a POST that makes the API fetch a page, with the setting that would allow it",
    },
  },
  {
    name: "headers that enable server tools are refused",
    protects: "data in a container, against server tools",
    mark: "no-beta-headers",
    without: "($left.arguments[0].arguments[0] ? undefined : $1($2(''), $5)) ?? $right",
    failingTest: { file: sealedTest, test: "refuses a beta that switches on such a feature" },
  },
  {
    name: "the checked body is the forwarded body",
    protects: "the check of a body, against two readings of one text",
    mark: "forward-parsed-body",
    without: "$condition ? $whenFalse : $whenTrue",
    failingTest: { file: sealedTest, test: "forwards exactly the request that was checked" },
  },
  {
    name: "an encoded body is refused",
    protects: "the check of a body",
    mark: "no-encoded-body",
    without: 'if ($1 === "") return $2("");',
    failingTest: { file: sealedTest, test: "refuses a compressed body with the reason" },
  },
  {
    name: "brackets are counted before parsing",
    protects: "the fleet's memory",
    mark: "bracket-limit",
    without: "$1($2.subarray(0, 0));",
    failingTest: { file: sealedTest, test: "refuses a body of brackets with the reason" },
  },
  {
    name: "only named hosts are open",
    protects: "data in a container, against every other host",
    mark: "named-hosts-only",
    without: "",
    failingTest: {
      file: egressTest,
      test: "refuses any other host with the rule that would open it, and reports it once",
    },
  },
  {
    name: "a name must not resolve to a private address",
    protects: "the machine's own network",
    mark: "no-private-address",
    without: "if ($1 !== null) continue;",
    failingTest: {
      file: egressTest,
      test: "refuses a name that resolves to a private address without connecting",
    },
  },
  {
    name: "one check of public addresses for hooks and egress",
    protects: "the cloud around the machine, against an address that looks public",
    mark: "metadata-addresses",
    without: '$expression("") && $arguments[0]',
    failingTest: {
      file: "test/lib/public-address.test.ts",
      test: "classifies 168.63.129.16 the same for hooks and egress",
    },
  },
  {
    name: "hosts are opened by name, not by address",
    protects: "the machine's own network, against numbers in any notation",
    mark: "hosts-by-name",
    without:
      "function $name($parameters): $type { $body.statements[0] $body.statements[1] $body.statements[2] $body.statements[3] $body.statements[6] }",
    failingTest: { file: rulesTest, test: "rejects a tunnel to" },
  },
  {
    name: "TLS must be for the host of the tunnel",
    protects: "neighbours of an open host on one server",
    mark: "tls-name-matches",
    node: "BinaryExpression",
    without: '$left !== "" || $right',
    failingTest: { file: tunnelsTest, test: 'closes a tunnel with TLS for "other.test"' },
  },
  {
    name: "a tunnel carries TLS only",
    protects: "neighbours of an open host on one server, against plain text with another Host",
    mark: "tls-only",
    without: "return undefined;",
    failingTest: {
      file: tunnelsTest,
      test: "refuses plain HTTP in a tunnel to a neighbour of an open host",
    },
  },
  {
    name: "TLS without a host name is refused",
    protects: "neighbours of an open host on one server",
    mark: "tls-name-required",
    without: "return undefined;",
    failingTest: { file: tunnelsTest, test: 'closes a tunnel with TLS for ""' },
  },
  {
    name: "an encrypted ClientHello is refused",
    protects: "neighbours of an open host on one server, against a hidden name",
    mark: "no-encrypted-hello",
    without: "$1.every($arguments[0])",
    failingTest: { file: tunnelsTest, test: "refuses an encrypted ClientHello of RFC 9849" },
  },
  {
    name: "a rule without a port opens port 443 only",
    protects: "neighbours of an open host on one server, against plain HTTP",
    mark: "default-port-443",
    without: "$0 && $0 !== 80",
    failingTest: { file: rulesTest, test: "evaluates example.com:80 as undefined" },
  },
  {
    name: "a host receives its own name",
    protects: "neighbours of an open host on one server",
    mark: "upstream-host-header",
    without:
      '{ $properties[0], $properties[1], $5: $properties[0].expression.arguments[0].$5 ?? "", }',
    failingTest: {
      file: egressTest,
      test: "sends the requested Host header to the host",
    },
  },
  {
    name: "only Anthropic models of Bedrock are open",
    protects: "the operator's account, against calls of other models",
    mark: "bedrock-routes",
    without: "/^\\/model\\//",
    failingTest: { file: adaptersTest, test: "the adapter of 'bedrock' refuses other paths" },
  },
  {
    name: "only the configured project and region of Vertex AI are open",
    protects: "other projects that the identity can use",
    mark: "vertex-project",
    without: "/RawPredict$/i",
    failingTest: { file: adaptersTest, test: "the adapter of 'vertex' refuses other paths" },
  },
  {
    name: "only headers of Claude Code are forwarded in a signed request",
    protects: "the operator's account, against headers that change the meaning of a request",
    mark: "provider-headers",
    without: "true",
    failingTest: { file: adaptersTest, test: "forwards only headers of Claude Code" },
  },
  {
    name: "betas in the body are checked",
    protects: "data in a container, against server tools at Bedrock",
    mark: "no-beta-in-body",
    without: "",
    failingTest: { file: adaptersTest, test: "applies the body policy of a sealed container" },
  },
  {
    name: "the AWS role of the machine is used only if the fleet file says so",
    protects: "the role of the machine",
    mark: "instance-role-opt-in",
    without: 'return { from: "instance" };',
    failingTest: { file: credentialsTest, test: "from the machine only if asked for" },
  },
  {
    name: "the Google identity of the machine is used only if the fleet file says so",
    protects: "the service account of the machine",
    mark: "machine-identity-opt-in",
    without: 'return { kind: "google", source: "" };',
    failingTest: { file: credentialsTest, test: "is refused as { type: vertex, project: p }" },
  },
  {
    name: "a run inherits no variables that choose a provider",
    protects: "the keys of a provider, and the meter of the gateway",
    mark: "no-inherited-provider",
    without: "",
    failingTest: { file: credentialsTest, test: "are not inherited by a run" },
  },
];
