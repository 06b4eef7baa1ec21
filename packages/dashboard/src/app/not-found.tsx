import { Link } from "@tanstack/react-router";
import { EmptyState } from "../ui/empty-state.tsx";

export function NotFound() {
  return (
    <EmptyState title="Page not found">
      <Link to="/" className="text-accent underline">
        Go to the fleet page
      </Link>
    </EmptyState>
  );
}
