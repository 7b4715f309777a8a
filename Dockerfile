# One image for all services and formctl. The command selects the program, as in docker-compose.yml.
#   docker build -t form-management .
#   docker run --rm form-management node formctl/src/formctl.ts --help

FROM node:26.10.0-slim AS base
WORKDIR /app

# Only the manifests, so that a change of the sources does not invalidate the layer of npm ci.
FROM base AS manifests
COPY . .
RUN find . -type f ! -name package.json ! -name package-lock.json -delete

FROM base AS dependencies
COPY --from=manifests /app .
# Optional packages are engines for tests, and not every registry has them for every platform.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

# The console with the development dependencies of its workspace, which the image does not need.
FROM base AS console
COPY --from=manifests /app .
RUN npm ci --workspace console --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run build --workspace console

FROM base AS sources
# Some packages are in the node_modules of a workspace.
COPY --from=dependencies /app .
COPY . .
COPY --from=console /app/console/dist console/dist
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 NODE_COMPILE_CACHE=/app/.cache \
  MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=131072

# Fills Node's compile cache (NODE_COMPILE_CACHE), as the user that runs the services. With it, no service loads the type
# stripper, which saves 30 MiB of memory and start time each. Services exit here, because they have no configuration.
FROM sources AS compiled
RUN install -d -o node .cache
USER node
RUN set -e; options="--max-semi-space-size=8 --managed-zone-memory --v8-pool-size=1 --no-large-page-pool"; \
  for service in services/*; do node $options "$service/src/main.ts" 2> /dev/null || true; done; \
  node $options --input-type=module -e " \
    await import('/app/libs/directory-store/src/mongodb/mongodb-tables.ts'); \
    await import('/app/libs/forms-store/src/mongodb/forms-store.ts'); \
    await import('/app/services/forms/src/drafts/draft-worker.ts'); \
    await import('/app/libs/forms-store/src/sqlite/lists/reader-thread.ts').catch(() => {}); \
    await import('/app/services/gateway/src/openapi/build-openapi.ts')"; \
  node formctl/src/formctl.ts --help > /dev/null; \
  chmod -R a+r .cache

FROM sources AS service
COPY --from=compiled /app/.cache .cache
USER node
EXPOSE 8080
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s --start-interval=500ms --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]

# The whole system on one machine, as under npm start (deploy/single/compose.yml): docker build --target single .
FROM service AS single
COPY --from=nats:2.14.0-alpine /usr/local/bin/nats-server /usr/local/bin/
USER root
RUN install -d -o node -m 700 /data
USER node
ENV DATA_DIR=/data DEMO=off
VOLUME /data
STOPSIGNAL SIGTERM
CMD ["node", "scripts/start.ts"]

FROM service
# The same V8 options as under npm start (scripts/services.ts).
CMD ["node", "--max-semi-space-size=8", "--managed-zone-memory", "--v8-pool-size=1", "--no-large-page-pool", "services/gateway/src/main.ts"]
