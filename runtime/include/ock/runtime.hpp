// Everything a program with generated launchers needs. docs/runtime.md is the guide.
#pragma once
#include <ock/abi.hpp>
#include <ock/arguments.hpp>
#include <ock/buffer.hpp>
#include <ock/context.hpp>
#include <ock/contract.hpp>
#include <ock/driver_api.hpp>
#include <ock/error.hpp>
#include <ock/event.hpp>
#include <ock/launch.hpp>
#include <ock/module.hpp>
#include <ock/operation.hpp>
#include <ock/stream.hpp>
#include <ock/tensor.hpp>
#include <ock/tensor_map.hpp>
#include <ock/tile_launch.hpp>
