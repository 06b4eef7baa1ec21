import { Outlet } from "@tanstack/react-router";
import { useConnection } from "../api/connection.ts";
import { DisconnectedBar } from "./disconnected-bar.tsx";
import { Navigation } from "./navigation.tsx";
import { SignedOut } from "./signed-out.tsx";

export function Shell() {
  const isSignedOut = useConnection() === "signed-out";
  if (isSignedOut) return <SignedOut />;
  return (
    <div className="flex min-h-dvh flex-col md:flex-row">
      <Navigation />
      <div className="flex min-w-0 flex-1 flex-col">
        <DisconnectedBar />
        <main className="mx-auto w-full max-w-[1600px] flex-1 p-4 pb-20 md:p-6">
          <Outlet />
        </main>
      </div>
    </div>
  );
}
