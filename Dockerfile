# Parley as a single executable. The first stage builds it; the second contains little else.
#   docker build -t parley .
#   docker run --name parley -p 8080:8080 -v parley:/data parley
#   docker exec parley cat /data/first-start.txt    the first API key and the link for the owner's password; delete it afterwards
# Commands: docker exec parley parley keys list. "secrets reset --yes" needs the server stopped:
#   docker run --rm -v parley:/data parley secrets reset --yes
# Backups, in another volume, which belongs to the user 10001: -v backups:/backups -e PARLEY_BACKUP_DIR=/backups
FROM node:22-bookworm AS build
WORKDIR /parley
# The dependencies have a separate layer, which is built again only when the lock file changes.
COPY package.json package-lock.json .npmrc ./
RUN npm ci --include=dev --include=optional
COPY . .
RUN npm run build:binary

FROM debian:bookworm-slim
# The server runs as an unprivileged user. A new volume at /data gets the owner and the mode of the folder.
RUN useradd --system --uid 10001 --home-dir /data --shell /usr/sbin/nologin parley \
	&& install -d -o parley -g parley -m 700 /data /cache
COPY --from=build /parley/.build/parley /usr/local/bin/parley
USER parley
WORKDIR /data
# A container listens on all its addresses. The demo is off, because it shows every deployment to everyone.
ENV PARLEY_HOST=0.0.0.0 PARLEY_DATA_DIR=/data PARLEY_CACHE_DIR=/cache PARLEY_DEMO=0
# The executable is unpacked while the image is built: a container starts fast, also with a read-only root.
RUN ["parley", "--version"]
VOLUME /data
EXPOSE 8080
# The image has neither Node nor curl: the executable itself requests /healthz.
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 CMD ["parley", "healthcheck"]
# Running replies may take 30 seconds to end: give "docker stop" 45 (--stop-timeout 45).
STOPSIGNAL SIGTERM
ENTRYPOINT ["parley"]
CMD ["serve"]
