#include "adapters/process/child.hpp"

#include "adapters/process/child_streams.hpp"
#include "adapters/process/descriptor_limit.hpp"
#include "adapters/process/program_start.hpp"
#include "messages/process.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <utility>

namespace troupe {

namespace {

/// A set of processors of any size.
class cpu_mask {
public:
  explicit cpu_mask(size_t count)
    : size_(CPU_ALLOC_SIZE(count)), set_(CPU_ALLOC(count)) {
    if (set_ == nullptr)
      throw std::bad_alloc{};
    CPU_ZERO_S(size_, set_.get());
  }

  void add(uint32_t cpu) {
    CPU_SET_S(cpu, size_, set_.get());
  }

  bool load() {
    return sched_getaffinity(0, size_, set_.get()) == 0;
  }

  bool store() const {
    return sched_setaffinity(0, size_, set_.get()) == 0;
  }

private:
  struct deleter {
    void operator()(cpu_set_t* x) const {
      CPU_FREE(x);
    }
  };

  size_t size_;
  std::unique_ptr<cpu_set_t, deleter> set_;
};

/// The most processors a kernel can be built for, with room to spare.
constexpr uint32_t max_cpus = 65536;

/// Binds the calling thread, for the child to inherit, as long as it lives.
class borrowed_binding {
public:
  explicit borrowed_binding(const std::vector<uint32_t>& cpus) {
    if (cpus.empty())
      return;
    const auto highest = *std::max_element(cpus.begin(), cpus.end());
    if (highest >= max_cpus) {
      failed_ = true;
      return;
    }
    auto wanted = cpu_mask{highest + size_t{1}};
    for (const auto cpu : cpus)
      wanted.add(cpu);
    previous_.emplace(max_cpus);
    failed_ = !previous_->load() || !wanted.store();
    if (failed_)
      previous_.reset();
  }

  borrowed_binding(const borrowed_binding&) = delete;

  borrowed_binding& operator=(const borrowed_binding&) = delete;

  ~borrowed_binding() {
    if (previous_)
      previous_->store();
  }

  bool failed() const {
    return failed_;
  }

private:
  std::optional<cpu_mask> previous_;
  bool failed_ = false;
};

/// Pointers as exec wants them.
std::vector<char*> pointers_to(const std::vector<std::string>& xs) {
  std::vector<char*> result;
  result.reserve(xs.size() + 1);
  for (const auto& x : xs)
    result.push_back(const_cast<char*>(x.c_str())); // exec does not write.
  result.push_back(nullptr);
  return result;
}

/// The environment of a child. What another launcher may have left in it would
/// name a descriptor, or the guard, of somebody else.
std::vector<std::string> environment_of(const start_process& request,
                                        const std::string& mark) {
  auto result = request.env;
  const auto remove = [&](const std::string& name) {
    result.erase(std::remove_if(result.begin(), result.end(),
                                [&](const std::string& x) {
                                  return x.compare(0, name.size(), name) == 0;
                                }),
                 result.end());
  };
  const auto name = stddiag_variable + std::string{"="};
  remove(name);
  if (!mark.empty()) {
    remove(mark.substr(0, mark.find('=') + 1));
    result.push_back(mark);
  }
  if (request.with_stddiag)
    result.push_back(name + std::to_string(stddiag_of(request)));
  return result;
}

bool has_zero_byte(const std::string& x) {
  return x.find('\0') != std::string::npos;
}

bool is_passable(const start_process& x) {
  return !has_zero_byte(x.program) && !has_zero_byte(x.wdir)
         && std::none_of(x.argv.begin(), x.argv.end(), has_zero_byte)
         && std::none_of(x.env.begin(), x.env.end(), has_zero_byte);
}

std::string list_of(const std::vector<uint32_t>& cpus) {
  std::string result;
  for (const auto cpu : cpus)
    result += (result.empty() ? "" : ",") + std::to_string(cpu);
  return result;
}

/// What the error of a start means after `find_program` was content.
launch_failure explain(int error, const std::string& program) {
  const auto cannot = "cannot execute " + program + ": ";
  switch (error) {
    case ENOENT:
      return {status::job_app_not_executable,
              cannot
                + "the interpreter or loader that it names does not exist; "
                  "install it or correct the first line of the script"};
    case ENOEXEC:
      return {status::job_app_not_executable,
              cannot
                + "neither a program for this machine nor a script with an "
                  "interpreter in its first line"};
    case EAGAIN:
    case ENOMEM:
      return {status::sys_limits_children,
              "cannot start " + program + ": " + std::strerror(error)
                + "; raise the limit of processes (ulimit -u) or start fewer"};
    case EMFILE:
    case ENFILE:
      return {status::sys_limits_files,
              "cannot start " + program + ": " + std::strerror(error)
                + "; raise the limit of open files (ulimit -n)"};
    case E2BIG:
      return {status::bad_param,
              cannot + "arguments and environment are too long; shorten them"};
    default:
      return {status::job_app_not_executable,
              cannot + std::strerror(error) + "; check the program"};
  }
}

/// The ends that the child gets, by their numbers.
void connect(const child_streams& x, const start_process& request,
             program_start& how) {
  const auto add = [&how](int fd) {
    how.descriptors[static_cast<size_t>(how.count++)] = fd;
  };
  add(!request.with_stdin ? program_start::nothing
      : request.with_pty  ? program_start::as_output
                          : x.in.theirs.get());
  how.terminal = x.terminal.c_str();
  add(x.out.theirs.get());
  add(x.err.theirs ? x.err.theirs.get() : program_start::as_output);
  if (request.with_pmi1)
    add(x.pmi1.theirs.get());
  if (request.with_stddiag)
    add(x.diag.theirs.get());
}

} // namespace

std::variant<child, launch_failure> spawn_child(const start_process& request,
                                                const std::string& mark) {
  if (!is_passable(request))
    return launch_failure{
      status::bad_param, "a name, an argument or the environment of "
                           + request.program + " holds a zero byte; remove it"};
  if (auto failure = check_directory(request); failure.code != status::success)
    return failure;
  auto found = find_program(request);
  if (auto* failure = std::get_if<launch_failure>(&found))
    return std::move(*failure);
  const auto& path = std::get<std::string>(found);
  auto opened = open_streams(request);
  if (auto* failure = std::get_if<launch_failure>(&opened))
    return std::move(*failure);
  auto& streams = std::get<child_streams>(opened);
  auto how = program_start{};
  how.path = path.c_str();
  how.directory = request.wdir.c_str();
  how.open_files = former_descriptor_limit();
  connect(streams, request, how);
  const auto argv = pointers_to(request.argv);
  char* const only_name[] = {const_cast<char*>(request.program.c_str()),
                             nullptr};
  const auto variables = environment_of(request, mark);
  const auto env = pointers_to(variables);
  how.argv = request.argv.empty() ? only_name : argv.data();
  how.env = env.data();
  auto started = started_program{};
  {
    const borrowed_binding binding{request.cpus};
    if (binding.failed())
      return launch_failure{status::bad_param,
                            "cannot bind " + request.program
                              + " to the processors " + list_of(request.cpus)
                              + "; choose among those the daemon may use"};
    started = start_program(how);
  }
  if (started.error != 0)
    return explain(started.error, path);
  child result;
  result.pid = started.pid;
  result.pidfd = std::move(started.pidfd);
  result.in = std::move(streams.in.ours);
  result.out = std::move(streams.out.ours);
  result.err = std::move(streams.err.ours);
  result.diag = std::move(streams.diag.ours);
  result.pmi1 = std::move(streams.pmi1.ours);
  return result;
}

} // namespace troupe
