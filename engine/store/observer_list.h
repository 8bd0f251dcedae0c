// ObserverList: the observers of a table.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cellar/observer.h"

namespace cellar {

// The observers of a table at one time, in the order of their registration. Immutable.
struct ObserverList {
  struct Named {
    std::string name;
    std::shared_ptr<Observer> observer;
    bool of_engine = false;  // it keeps a second table, whose name it has
  };
  std::vector<Named> all;
};

}  // namespace cellar
