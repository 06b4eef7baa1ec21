import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from "@tanstack/react-router";
import { parseActivitySearch } from "../pages/activity/search-params.ts";
import { parseAgentSearch } from "../pages/agent/search-params.ts";
import { parseAuditSearch } from "../pages/audit/search-params.ts";
import { parseChatSearch } from "../pages/chat/search-params.ts";
import { parseCostsSearch } from "../pages/costs/search-params.ts";
import { FleetPage } from "../pages/fleet/fleet-page.tsx";
import { parseFleetSearch } from "../pages/fleet/search-params.ts";
import { parseInboxSearch } from "../pages/inbox/search-params.ts";
import { parseJobSearch } from "../pages/job/search-params.ts";
import { parseSearchSearch } from "../pages/search/search-params.ts";
import { ErrorNote } from "../ui/error-note.tsx";
import { Loading } from "../ui/loading.tsx";
import { NotFound } from "./not-found.tsx";
import { Shell } from "./shell.tsx";

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });

const fleet = createRoute({
  getParentRoute: () => root,
  path: "/",
  validateSearch: parseFleetSearch,
  component: FleetPage,
});

const agent = createRoute({
  getParentRoute: () => root,
  path: "/agents/$agent",
  validateSearch: parseAgentSearch,
  component: lazyRouteComponent(() => import("../pages/agent/agent-page.tsx"), "AgentPage"),
});

const job = createRoute({
  getParentRoute: () => root,
  path: "/jobs/$jobId",
  validateSearch: parseJobSearch,
  component: lazyRouteComponent(() => import("../pages/job/job-page.tsx"), "JobPage"),
});

const inbox = createRoute({
  getParentRoute: () => root,
  path: "/inbox",
  validateSearch: parseInboxSearch,
  component: lazyRouteComponent(() => import("../pages/inbox/inbox-page.tsx"), "InboxPage"),
});

const costs = createRoute({
  getParentRoute: () => root,
  path: "/costs",
  validateSearch: parseCostsSearch,
  component: lazyRouteComponent(() => import("../pages/costs/costs-page.tsx"), "CostsPage"),
});

const activity = createRoute({
  getParentRoute: () => root,
  path: "/activity",
  validateSearch: parseActivitySearch,
  component: lazyRouteComponent(
    () => import("../pages/activity/activity-page.tsx"),
    "ActivityPage",
  ),
});

const chat = createRoute({
  getParentRoute: () => root,
  path: "/chat",
  validateSearch: parseChatSearch,
  component: lazyRouteComponent(() => import("../pages/chat/chat-page.tsx"), "ChatPage"),
});

const nodes = createRoute({
  getParentRoute: () => root,
  path: "/nodes",
  component: lazyRouteComponent(() => import("../pages/nodes/nodes-page.tsx"), "NodesPage"),
});

const audit = createRoute({
  getParentRoute: () => root,
  path: "/audit",
  validateSearch: parseAuditSearch,
  component: lazyRouteComponent(() => import("../pages/audit/audit-page.tsx"), "AuditPage"),
});

const newAgent = createRoute({
  getParentRoute: () => root,
  path: "/new-agent",
  component: lazyRouteComponent(() => import("../pages/edit/new-agent-page.tsx"), "NewAgentPage"),
});

const search = createRoute({
  getParentRoute: () => root,
  path: "/search",
  validateSearch: parseSearchSearch,
  component: lazyRouteComponent(() => import("../pages/search/search-page.tsx"), "SearchPage"),
});

const access = createRoute({
  getParentRoute: () => root,
  path: "/access",
  component: lazyRouteComponent(() => import("../pages/access/access-page.tsx"), "AccessPage"),
});

const settings = createRoute({
  getParentRoute: () => root,
  path: "/settings",
  component: lazyRouteComponent(
    () => import("../pages/settings/settings-page.tsx"),
    "SettingsPage",
  ),
});

const design = createRoute({
  getParentRoute: () => root,
  path: "/design",
  component: lazyRouteComponent(() => import("../pages/design/design-page.tsx"), "DesignPage"),
});

export const router = createRouter({
  routeTree: root.addChildren([
    fleet,
    agent,
    job,
    inbox,
    costs,
    activity,
    chat,
    nodes,
    audit,
    newAgent,
    search,
    access,
    settings,
    design,
  ]),
  defaultPreload: "intent",
  defaultPendingComponent: Loading,
  defaultErrorComponent: ({ error }) => <ErrorNote error={error} />,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
