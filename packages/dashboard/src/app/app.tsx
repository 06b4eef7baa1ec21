import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { useEffect } from "react";
import { followFleet } from "../api/fleet-events.ts";
import { createQueryClient } from "../api/query-client.ts";
import {
  notifyWhileHidden,
  registerServiceWorker,
  updatePushSubscription,
} from "./browser-notifications.ts";
import { router } from "./router.tsx";

const queryClient = createQueryClient();

export function App() {
  useEffect(() => followFleet(queryClient), []);
  useEffect(() => {
    void registerServiceWorker();
    void updatePushSubscription();
    return notifyWhileHidden();
  }, []);
  return (
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </CSPProvider>
  );
}
