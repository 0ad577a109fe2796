// All endpoints, in one place: which path answers which method, and on which listener. Elysia routes; the handlers are
// in the files of their families. An unknown path is 404, a known path with another method 405, nothing is a 500.

import { type AnyElysia, Elysia } from "elysia";
import { accounts } from "./accounts/accounts.ts";
import type { UsersParts } from "./accounts/users.ts";
import { type BillsParts, bills } from "./bills/bills.ts";
import type { ConfigurationParts } from "./configuration/config-changes.ts";
import { configuration } from "./configuration/configuration.ts";
import { type CredentialsParts, credentials } from "./credentials/credentials.ts";
import { type DashboardParts, dashboard } from "./dashboard/dashboard.ts";
import type { Context, Endpoint } from "./endpoint.ts";
import { errorHandler, type ServedRoute } from "./error-handler.ts";
import { forwardingHandlers, type GatewayFamilyParts, gateway } from "./gateway/gateway.ts";
import { isAdministration, type ListenerParts } from "./management.ts";
import { type NewsParts, news } from "./news/news.ts";
import { documentOfAll } from "./openapi/openapi.ts";
import { documentation } from "./openapi/swagger-ui.ts";
import type { DocumentedRoute } from "./operation.ts";
import { type OperationsParts, operations } from "./operations/operations.ts";
import type { KeysParts } from "./provider-keys/key-changes.ts";
import { providerKeys } from "./provider-keys/keys.ts";
import { clientIp, type HttpListener, pathOf, requestIdOf } from "./request-head.ts";

/** What all endpoints of a listener need. */
interface EndpointParts
  extends UsersParts,
    KeysParts,
    ConfigurationParts,
    NewsParts,
    CredentialsParts,
    DashboardParts,
    BillsParts,
    GatewayFamilyParts,
    OperationsParts {}

type Handler = ((context: Context) => Promise<Response>) & Partial<Pick<Endpoint, "takes">>;
type Method = "GET" | "POST" | "PUT" | "DELETE";

interface Route {
  readonly method: Method;
  readonly path: string;
  readonly handle: Handler;
  /** Answers only on the administration address when there is one. */
  readonly admin?: true;
}

/** No route is left; the next change removes what serves them. */
const oldRoutes: readonly Route[] = [];

/** What Bun's server calls. */
export type Fetch = (request: Request, server: HttpListener) => Response | Promise<Response>;

/** What an application is made from, for any listener. */
export type AppParts = Omit<EndpointParts, keyof ListenerParts>;

/** The application of one listener. `serves`: everything, or everything but what is for administrators only. */
export function createApp(parts: AppParts, serves: "all" | "public"): Fetch {
  /** This application's one server, known with its first request. */
  let listener: HttpListener = null;
  const served = { ...parts, listener: () => listener, servesAdministration: serves === "all" };
  const app = endpointsOf(served);
  app.compile();
  // On the busiest paths Elysia's copying of each response is a tenth of our own work.
  const direct = forwardingHandlers(served);
  const respond = async (request: Request): Promise<Response> => {
    const response = await app.handle(request);
    // What machines ask (health, metrics) is answered without knowing of requests.
    if (!response.headers.has("x-request-id")) {
      response.headers.set("x-request-id", requestIdOf(request, parts.random));
    }
    return response;
  };
  return (request, server) => {
    const forward = request.method === "POST" ? direct.get(pathOf(request.url)) : undefined;
    if (forward !== undefined) return forward(request, server);
    listener = server;
    return respond(request);
  };
}

/** The routes of an application that its listener serves, as its document and its 405 answers list them. */
const servedRoutes = (app: AnyElysia, servesAdministration: boolean): DocumentedRoute[] =>
  (app.routes as unknown as DocumentedRoute[]).filter(({ hooks }) => {
    const access = hooks.detail?.["x-access"];
    return servesAdministration || access === undefined || !isAdministration(access);
  });

const everything = (parts: AppParts): EndpointParts => ({
  ...parts,
  listener: () => null,
  servesAdministration: true,
});

/** All routes of an application. */
export const routesOf = (parts: AppParts): DocumentedRoute[] =>
  servedRoutes(endpointsOf(everything(parts)), true);

/** The document of all routes. */
export const documentOfEverything = (parts: AppParts): Promise<object> =>
  documentOfAll(oldRoutes, routesOf(parts));

/** All endpoints that a listener serves, as one application of Elysia. */
function endpointsOf(parts: EndpointParts) {
  const isServed = ({ admin }: Route): boolean => parts.servesAdministration || !admin;
  const served = (): ServedRoute[] => servedRoutes(app, parts.servesAdministration);
  // Hosts may be short (a load balancer's check sends what it likes): paths are looked for from where a host begins.
  const app: AnyElysia = new Elysia({ normalize: false, handler: { standardHostname: false } })
    .onError(errorHandler(parts, served))
    .use(accounts(parts) as AnyElysia)
    .use(bills(parts) as AnyElysia)
    .use(configuration(parts) as AnyElysia)
    .use(credentials(parts) as AnyElysia)
    .use(dashboard(parts) as AnyElysia)
    .use(gateway(parts))
    .use(news(parts) as AnyElysia)
    .use(providerKeys(parts) as AnyElysia)
    .use(operations(parts))
    .use(
      documentation(() => documentOfAll(routes, servedRoutes(app, parts.servesAdministration))) as AnyElysia,
    );
  const routes = oldRoutes.filter(isServed);
  for (const { method, path, handle } of routes) {
    const answer = async ({
      request,
      params,
      query,
    }: {
      request: Request;
      params: unknown;
      query: unknown;
    }) => handle(contextOf(parts, request, parts.listener(), { params, query }));
    app.route(method, path, answer as never, { parse: "none" });
  }
  return app;
}

function contextOf(
  parts: AppParts,
  request: Request,
  server: HttpListener,
  { params, query }: { params: unknown; query: unknown },
): Context {
  return {
    request,
    params: (params ?? {}) as Context["params"],
    query: query as Context["query"],
    clientIp: () =>
      clientIp(
        server?.requestIP(request)?.address ?? "",
        request.headers.get("x-forwarded-for"),
        parts.trustProxy,
      ),
  };
}
