# The image of one node. Its Bun is that of package.json; deploy/pin.sh adds the digests of the base where there is a network.
# test/deploy/image.test.ts runs these lines in empty folders and starts what comes out of them: commands use relative paths.

FROM oven/bun:1.4.5-slim AS build
WORKDIR /build
COPY package.json bun.lock bunfig.toml ./
RUN bun install --frozen-lockfile --ignore-scripts
COPY scripts/build-console.ts scripts/build-console.ts
COPY console console
RUN bun scripts/build-console.ts
# What runs needs no development dependencies, no peers that only types need, and no second Bun beside that of the base.
RUN rm -r node_modules \
  && bun install --frozen-lockfile --ignore-scripts --production --omit=peer \
  && rm -r node_modules/bun node_modules/@oven node_modules/.bin
COPY LICENSE LICENSE
COPY actors actors
COPY src src
RUN mkdir data && chmod -R a+rX .

FROM oven/bun:1.4.5-slim
WORKDIR /app
# The address is that of the container. The first three behind it are those of scripts/bun.sh; the last writes no cache to the
# disk.
ENV HOST=0.0.0.0 \
  BUN_CONFIG_MAX_HTTP_REQUESTS=65000 \
  BUN_JSC_heapGrowthMaxIncrease=1 \
  MIMALLOC_PURGE_DELAY=1000 \
  BUN_RUNTIME_TRANSPILER_CACHE_PATH=0
COPY --from=build /build/LICENSE /build/package.json ./
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/.cache/console .cache/console
COPY --from=build /build/actors actors
COPY --from=build /build/src src
COPY --from=build --chown=1000:1000 /build/data data
USER 1000:1000
VOLUME /app/data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 CMD ["bun", "src/main.ts", "health"]
ENTRYPOINT ["bun", "src/main.ts"]
CMD ["serve"]
