// Which files a compilation is going to write: known before it starts, so that a command line that would overwrite a source
// or name one file twice is refused before anything is compiled.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "driver/options.hpp"

namespace ockc::driver {

enum class OutputRole : std::uint8_t {
    Asked,   // an --emit kind
    Temp,    // a dump of --save-temps
    Deps,    // the make rule of -MD
};

struct PlannedOutput {
    OutputRole role = OutputRole::Asked;
    Emit emit = Emit::Ptx;
    std::size_t image = 0;   // of kinds that have one file a target
    std::string path;        // "-" is standard output
};

struct OutputPlan {
    std::string folder, stem;              // of outputs without a path
    std::vector<PlannedOutput> outputs;    // in the order asked for; --save-temps and -MD come last

    bool has(Emit emit) const;             // asked for, not only kept by --save-temps
    std::string beside(std::string_view ending) const;
};

// The plan for one source file ("-" is standard input).
OutputPlan plan_outputs(const Options& options, const std::string& source);

// Why these plans must not be carried out: an output that is one of `inputs` (by another name, through links) or that two
// outputs share. The rules of several files may share one -MF file.
std::optional<std::string> output_conflict(const std::vector<OutputPlan>& plans, const std::vector<std::string>& inputs);

// Is `output` the very file `input`, by whatever name.
bool same_file(const std::string& output, const std::string& input);

}  // namespace ockc::driver
