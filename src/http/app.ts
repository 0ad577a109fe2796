// The application of a listener: the families of endpoints as plugins of one Elysia, and before it the direct way of requests to
// models. Only this file imports the families.

import { type AnyElysia, Elysia } from "elysia";
import { accounts } from "./accounts/accounts.ts";
import type { UsersParts } from "./accounts/users.ts";
import { apiKeys } from "./api-keys/api-keys.ts";
import { type AttentionParts, attention } from "./attention/attention.ts";
import { type BillsParts, bills } from "./bills/bills.ts";
import type { ConfigurationParts } from "./configuration/config-changes.ts";
import { configuration } from "./configuration/configuration.ts";
import { type ConsoleParts, consolePages } from "./console/pages.ts";
import { type CredentialsParts, credentials } from "./credentials/credentials.ts";
import { type DashboardParts, dashboard } from "./dashboard/dashboard.ts";
import { type LiveParts, live } from "./dashboard/live.ts";
import { type RequestListParts, requestLists } from "./dashboard/requests.ts";
import { type EdgeLogParts, edgeLog } from "./edge-log.ts";
import { errorHandler, notFound } from "./error-handler.ts";
import { forwardingHandlers, type GatewayFamilyParts, gateway } from "./gateway/gateway.ts";
import { isAdministration, type ListenerParts } from "./management.ts";
import { type MoneyParts, moneyStatement } from "./money/money.ts";
import { type NewsParts, news } from "./news/news.ts";
import { documentation } from "./openapi/swagger-ui.ts";
import type { DocumentedRoute } from "./operation.ts";
import { type OperationsParts, operations } from "./operations/operations.ts";
import type { KeysParts } from "./provider-keys/key-changes.ts";
import { providerKeys } from "./provider-keys/keys.ts";
import { requestIdOf } from "./request-head.ts";
import { RoutedRequests } from "./routed-requests.ts";
import type { Handler } from "./server/http-server.ts";
import type { ServerRequest } from "./server/server-request.ts";
import type { ServerResponse } from "./server/server-response.ts";
import { WebResponses, webRequestOf } from "./web-messages.ts";

/** What all endpoints of a listener need. */
interface EndpointParts
  extends UsersParts,
    KeysParts,
    ConfigurationParts,
    MoneyParts,
    NewsParts,
    CredentialsParts,
    DashboardParts,
    RequestListParts,
    LiveParts,
    AttentionParts,
    BillsParts,
    GatewayFamilyParts,
    OperationsParts,
    ConsoleParts,
    EdgeLogParts {}

/** What an application is made from, for any listener. */
export type AppParts = Omit<EndpointParts, keyof ListenerParts>;

/** Creates the application of one listener, which serves all endpoints, or all but those of Owners and Root. */
export function createApp(parts: AppParts, serves: "all" | "public"): Handler {
  const routed = new RoutedRequests();
  const served = { ...parts, routed, servesAdministration: serves === "all" };
  const app = endpointsOf(served);
  app.compile();
  // On the busiest paths the requests and responses of Elysia would be a fifth of our own work.
  const direct = forwardingHandlers(served);
  const routes = () => servedRoutes(app, served.servesAdministration);
  const logEdge = edgeLog(served, routes);
  const web = new WebResponses(parts.clock);
  const fail = errorHandler(served, routes);
  /** Resolves to the response of Elysia, or of the gateway where Elysia routed the request there. */
  const routedResponse = async (request: ServerRequest, asked: Request): Promise<ServerResponse> => {
    const failed = async (error: unknown) =>
      web.serverResponseOf(
        await fail({ request: asked, code: "UNKNOWN", error, call: routed.callOf(asked) }),
      );
    routed.add(asked, request);
    // For HEAD Elysia reads a stream to its end where no handler of errors sees its failure.
    return app
      .handle(asked)
      .then((response) => web.serverResponseOf(response))
      .catch(failed);
  };
  const respond = async (request: ServerRequest): Promise<ServerResponse> => {
    const arrivedMs = parts.clock.mono();
    const asked = webRequestOf(request);
    const response = asked === null ? notFound(routes(), request, {}) : await routedResponse(request, asked);
    const forwarded = asked === null ? undefined : routed.forwardedResponseOf(asked);
    if (forwarded !== undefined) return forwarded;
    // Endpoints for machines know no request id.
    response.headers["x-request-id"] ??= requestIdOf(request, parts.random);
    logEdge(request, asked === null ? undefined : routed.callOf(asked), response, arrivedMs);
    return response;
  };
  return (request) => {
    const forward = request.method === "POST" ? direct.get(request.path) : undefined;
    return forward === undefined ? respond(request) : forward(request);
  };
}

/** The routes of an application that its listener serves, as its document and its 405 answers list them. */
const servedRoutes = (app: AnyElysia, servesAdministration: boolean): DocumentedRoute[] =>
  (app.routes as unknown as DocumentedRoute[]).filter(({ hooks }) => {
    const access = hooks.detail?.["x-access"];
    return servesAdministration || access === undefined || !isAdministration(access);
  });

/** All routes of an application whose listener serves administration too. */
export const routesOf = (parts: AppParts): DocumentedRoute[] =>
  servedRoutes(endpointsOf({ ...parts, routed: new RoutedRequests(), servesAdministration: true }), true);

/** Builds the application of Elysia with the endpoints that a listener serves. */
function endpointsOf(parts: EndpointParts): AnyElysia {
  const served = () => servedRoutes(app, parts.servesAdministration);
  // Hosts may be short, as those of load balancers' checks: the path is searched from where a host begins.
  const app: AnyElysia = new Elysia({ normalize: false, handler: { standardHostname: false } })
    .onError(errorHandler(parts, served))
    .use(accounts(parts) as AnyElysia)
    .use(apiKeys(parts) as AnyElysia)
    .use(attention(parts) as AnyElysia)
    .use(bills(parts) as AnyElysia)
    .use(configuration(parts) as AnyElysia)
    .use(consolePages(parts) as AnyElysia)
    .use(credentials(parts) as AnyElysia)
    .use(dashboard(parts) as AnyElysia)
    .use(requestLists(parts) as AnyElysia)
    .use(live(parts) as AnyElysia)
    .use(gateway(parts))
    .use(moneyStatement(parts) as AnyElysia)
    .use(news(parts) as AnyElysia)
    .use(providerKeys(parts) as AnyElysia)
    .use(operations(parts))
    .use(documentation(served) as AnyElysia);
  return app;
}
