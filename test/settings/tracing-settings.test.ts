// How traces are asked for: the standard variables, what turns them on, and what is refused by name without showing a secret.

import { describe, expect, test } from "bun:test";
import { BadSetting, readSettings } from "../../src/settings/settings.ts";

const read = (env: Record<string, string>) => readSettings(env, false).tracing;
const ON = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" };

describe("traces are off", () => {
  test.each([
    [{}],
    [{ OTEL_SERVICE_NAME: "gate" }],
    [{ ...ON, OTEL_SDK_DISABLED: "true" }],
    [{ ...ON, OTEL_SDK_DISABLED: "TRUE" }],
    [{ ...ON, OTEL_TRACES_EXPORTER: "none" }],
  ])("with %p", (env: Record<string, string>) => {
    expect(read(env)).toBeNull();
  });
});

describe("where they go", () => {
  test.each([
    [{ OTEL_TRACES_EXPORTER: "otlp" }, "http://localhost:4318/v1/traces"],
    [ON, "http://127.0.0.1:4318/v1/traces"],
    [{ ...ON, OTEL_SDK_DISABLED: "False" }, "http://127.0.0.1:4318/v1/traces"],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: "https://otel.example/?team=a%20b" },
      "https://otel.example/v1/traces?team=a%20b",
    ],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: "https://otel.example/base//?to=/x/" },
      "https://otel.example/base/v1/traces?to=/x/",
    ],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: "https://otel.example/base/" }, "https://otel.example/base/v1/traces"],
    [{ ...ON, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://other.example/x" }, "http://other.example/x"],
  ])("%p", (env: Record<string, string>, url) => {
    expect(read(env)?.url).toBe(url);
  });
});

test("all of them, with their defaults", () => {
  expect(read(ON)).toEqual({
    url: "http://127.0.0.1:4318/v1/traces",
    headers: {},
    serviceName: "arborgate",
    resource: {},
    ratio: 1,
    isParentBased: true,
    timeoutMs: 10_000,
    isCompressed: false,
    batchDelayMs: 5_000,
  });
});

test("pairs are percent-encoded, and those of traces go before those of all signals", () => {
  const tracing = read({
    ...ON,
    OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20one, x-team = a ",
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: "authorization=Bearer%20two",
    OTEL_RESOURCE_ATTRIBUTES: "service.name=gate,deployment.environment.name=prod",
  });
  expect(tracing?.headers).toEqual({ authorization: "Bearer two", "x-team": "a" });
  expect(tracing?.serviceName).toBe("gate");
  expect(tracing?.resource["deployment.environment.name"]).toBe("prod");
});

test.each([
  ["always_on", undefined, { ratio: 1, isParentBased: false }],
  ["always_off", "0.5", { ratio: 0, isParentBased: false }],
  ["traceidratio", "0.01", { ratio: 0.01, isParentBased: false }],
  ["parentbased_traceidratio", "0.25", { ratio: 0.25, isParentBased: true }],
  ["parentbased_always_off", undefined, { ratio: 0, isParentBased: true }],
])("the sampler %s with %p", (name, argument, expected) => {
  const env = { ...ON, OTEL_TRACES_SAMPLER: name };
  expect(read(argument === undefined ? env : { ...env, OTEL_TRACES_SAMPLER_ARG: argument })).toMatchObject(
    expected,
  );
});

describe("refused by name", () => {
  test.each([
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "ftp://secret@otel.example"],
    ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "secret"],
    ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"],
    ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/protobuf"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "authorization"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "authorization=%E0%A4%A"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "x team=secret"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "x-team=secret%0Ax"],
    ["OTEL_EXPORTER_OTLP_TRACES_HEADERS", "x-team=secret%E2%82%AC"],
    ["OTEL_TRACES_EXPORTER", "zipkin"],
    ["OTEL_SDK_DISABLED", "1"],
    ["OTEL_SDK_DISABLED", "yes"],
    ["OTEL_TRACES_SAMPLER", "jaeger_remote"],
    ["OTEL_EXPORTER_OTLP_TIMEOUT", "soon"],
    ["OTEL_EXPORTER_OTLP_TIMEOUT", "0"],
    ["OTEL_BSP_SCHEDULE_DELAY", "-1"],
    ["OTEL_EXPORTER_OTLP_COMPRESSION", "br"],
  ])("%s=%s", (name, value) => {
    const refused = () => read({ ...ON, [name]: value });
    expect(refused).toThrow(BadSetting);
    expect(refused).toThrow(new RegExp(`^${name}`));
    expect(refused).not.toThrow(/secret/);
  });

  test.each(["-0.1", "1.1", "half"])("OTEL_TRACES_SAMPLER_ARG=%s", (value) => {
    const env = { ...ON, OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: value };
    expect(() => read(env)).toThrow(/^OTEL_TRACES_SAMPLER_ARG/);
  });
});
