#pragma once
// Which nodes a backward pass visits, and in what order. What it does at each of them: autograd.cpp.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gradus/core/tape/autograd.h"

namespace gradus {

/// The nodes that lead to a root, newest first. While this lives, no other pass frees those it goes through;
/// a pass that retains no graph has them to itself.
class PassNodes {
 public:
  struct Waiting {
    std::uint64_t order;
    Node* node;
    bool operator<(const Waiting& other) const { return order < other.order; }
  };
  struct Memory {  // of lists, which the next pass uses again
    std::vector<Waiting> heap;
    std::vector<Node*> nodes;
  };

  /// With `within`, ends at the inputs of that node; with `wanted`, only nodes that lead to one of these.
  /// `around`: the nodes of the pass of this thread that contains this one, or null.
  PassNodes(Node* root, bool retain_graph, const Node* within, std::span<Node* const> wanted,
            const PassNodes* around, Memory& memory);
  ~PassNodes() { leave(0); }
  PassNodes(const PassNodes&) = delete;
  PassNodes& operator=(const PassNodes&) = delete;

  const std::vector<Node*>& list() const { return nodes_; }
  std::size_t size() const { return nodes_.size(); }
  Node& operator[](std::size_t i) const { return *nodes_[i]; }
  /// Whether node i's gradient is passed on: the pass may end at a wanted node.
  bool is_passed(std::size_t i) const { return wanted_.empty() || (i < held_.size() && held_[i]); }
  /// A node's number, or size() where it has none.
  std::size_t place_of(const Node& node) const {
    const std::size_t hint = node.slot_.load(std::memory_order_relaxed);
    return hint < nodes_.size() && nodes_[hint] == &node ? hint : searched(node);
  }

  /// After the pass, or an exception: releases the nodes, of which `done` were visited.
  void leave(std::size_t done);

 private:
  void collect(Node* root);
  void keep_what_leads();
  void enter(Node& node);
  void look_at(Node& node);
  void leave(Node& node);
  [[noreturn]] void refuse(const Node& node, std::int32_t passes) const;
  bool is_wanted(const Node* node) const;
  bool is_end(const Node* node) const;
  std::size_t searched(const Node& node) const;

  bool retain_graph_;
  const Node* within_;
  std::span<Node* const> wanted_;
  const PassNodes* around_;
  std::uint64_t oldest_ = 0;     // of the wanted nodes: the pass ends there
  std::vector<bool> held_ = {};  // with wanted nodes: which of nodes_ no other pass may free
  std::vector<Waiting>& heap_;
  std::vector<Node*>& nodes_;
};

}  // namespace gradus
