#pragma once

// The protocol of the whole runtime: which actor understands which message, in
// pages by subject. actors/README.md draws who talks to whom.

#include "messages/interfaces/adapters.hpp"
#include "messages/interfaces/client.hpp"
#include "messages/interfaces/events.hpp"
#include "messages/interfaces/groups.hpp"
#include "messages/interfaces/host.hpp"
#include "messages/interfaces/io.hpp"
#include "messages/interfaces/jobs.hpp"
#include "messages/interfaces/mesh.hpp"
#include "messages/interfaces/monitors.hpp"
#include "messages/interfaces/remoting.hpp"
#include "messages/interfaces/server.hpp"
#include "messages/self.hpp"

// What CAF needs to send all that stands there.
#include "messages/actor_ids.hpp"
#include "messages/inspect_extern.hpp"
#include "messages/interface_texts.hpp"
