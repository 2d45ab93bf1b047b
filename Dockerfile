# Parley from the one file: it is built in the first stage, and the second holds little else.
#   docker build -t parley .
#   docker run -p 8080:8080 -v parley:/data parley
FROM node:22-bookworm AS build
WORKDIR /parley
COPY . .
RUN npm run build:binary

FROM debian:bookworm-slim
RUN useradd --system --uid 10001 --home-dir /data parley && install -d -o parley -g parley -m 700 /data /cache
COPY --from=build /parley/.build/parley /usr/local/bin/parley
USER parley
WORKDIR /data
ENV PARLEY_HOST=0.0.0.0 PARLEY_DATA_DIR=/data PARLEY_CACHE_DIR=/cache
# Unpacked while the image is made: a container starts warm, also with a read-only root.
RUN ["parley", "--version"]
VOLUME /data
EXPOSE 8080
ENTRYPOINT ["parley"]
CMD ["serve"]
