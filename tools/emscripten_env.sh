# Sourced: what the distribution's emscripten needs to run as an ordinary user. $1: a folder for its cache, which is
# read-only where it is installed.
EM_CACHE=$(cd "$1" && pwd)/emscripten-cache
if [ ! -e "$EM_CACHE" ]; then
  cp -r --no-preserve=mode,ownership /usr/share/emscripten/cache "$EM_CACHE"
fi
# Its scripts ask for packages of the distribution's node, whichever node runs them.
NODE_PATH=/usr/share/nodejs${NODE_PATH:+:$NODE_PATH}
export EM_CACHE NODE_PATH
