// The coroutine of the server, with a concrete executor: an executor behind a type-erased handle would cost a request
// as much as parsing it.
#pragma once

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <asio/use_awaitable.hpp>

namespace kvarts::net {

using Executor = asio::io_context::executor_type;

template <class T = void>
using Task = asio::awaitable<T, Executor>;

constexpr asio::use_awaitable_t<Executor> kAwait;

// What resumes a coroutine that waits for nothing but that: called once, on its loop.
using Resume = asio::async_result<asio::use_awaitable_t<Executor>, void()>::handler_type;

}  // namespace kvarts::net
